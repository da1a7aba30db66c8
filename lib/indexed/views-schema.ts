/** Where readers find the indexed tables. */
import { setDatabaseSchema } from "@ponder/client";
import { is } from "drizzle-orm";
import { getViewConfig, PgView } from "drizzle-orm/pg-core";
import { ViewBaseConfig } from "drizzle-orm/view-common";

/** Makes queries on the exports of `ponder.schema.ts` read this schema. */
export function readFrom(schema: Record<string, unknown>, name: string): void {
  setDatabaseSchema(schema, name);
  for (const view of Object.values(schema)) {
    if (is(view, PgView)) Object.assign(view, { [ViewBaseConfig]: { ...getViewConfig(view), schema: name } });
  }
}
