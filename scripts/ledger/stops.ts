import type { Sql } from "postgres";
import { type StopTarget, subjectOf } from "../../lib/ledger/stops.ts";

/** Sets a stop, or the reason of an existing one. Idempotent. */
export async function setStop(sql: Sql, target: StopTarget, reason: string): Promise<void> {
  await sql`
    insert into service.stop (scope, subject, reason) values (${target.scope}, ${subjectOf(target)}, ${reason})
    on conflict (scope, subject) do update set reason = excluded.reason, set_by = excluded.set_by`;
}

/** Lifts a stop. @returns false when none was in force. */
export async function clearStop(sql: Sql, target: StopTarget): Promise<boolean> {
  const rows = await sql`
    delete from service.stop where scope = ${target.scope} and subject = ${subjectOf(target)} returning scope`;
  return rows.length > 0;
}
