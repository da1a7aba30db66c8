import type { Sql } from "postgres";
import {
  type Stop,
  type StopRow,
  type StopTarget,
  stopColumns,
  stopOf,
  subjectOf,
} from "../../lib/ledger/stops.ts";

/** Another operator may lift the stop between two looks at it. */
const TRIES = 3;

/**
 * Sets a stop where there is none. Idempotent: one that is in force stays as it is, with its reason, because Postgres lets the api
 * neither change nor lift a stop.
 */
export async function addStop(
  sql: Sql,
  target: StopTarget,
  reason: string,
): Promise<{ stop: Stop; isNew: boolean }> {
  const [scope, subject] = [target.scope, subjectOf(target)];
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const [added] = await sql<StopRow[]>`
      insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, ${reason})
      on conflict (scope, subject) do nothing returning ${stopColumns(sql)}`;
    if (added) return { stop: stopOf(added), isNew: true };
    const [present] = await sql<StopRow[]>`
      select ${stopColumns(sql)} from service.stop where scope = ${scope} and subject = ${subject}`;
    if (present) return { stop: stopOf(present), isNew: false };
  }
  throw new Error("the stop is set and lifted again and again");
}
