/** Compares the sums that Postgres keeps with the same sums computed anew from all rows. */
import { expect } from "vitest";
import * as schema from "../../../ponder.schema.ts";
import { recompute, sumsOf } from "../../../src/shared/sums/sum-table.ts";
import { byText, type Row, type Rows, servedSchema } from "./rows.ts";

/** Reads both in one snapshot, so an indexer may be at work. */
export async function expectSumsOfRows({ sql }: Pick<Rows, "sql">): Promise<void> {
  const source = await servedSchema(sql);
  if (source === undefined) throw new Error("no index is served");
  const sums = sumsOf(schema);
  expect(sums).not.toEqual([]);
  await sql.begin("isolation level repeatable read", async (tx) => {
    for (const sum of sums) {
      const kept = await tx<Row[]>`select * from ${tx(source)}.${tx(sum.name)}`;
      const counted = await tx.unsafe<Row[]>(recompute(sum, source));
      const inOrder = (rows: readonly Row[]) => rows.map((row) => ({ ...row })).sort(byText);
      expect(inOrder(kept), sum.name).toEqual(inOrder(counted));
    }
  });
}
