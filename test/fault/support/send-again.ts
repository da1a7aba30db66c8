/** Repeated broadcasts without the seconds that the writer waits before each. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { backdateBroadcasts } from "./waits.ts";

const EVERY_MS = 500;

/** Until `work` has ended, all open transactions are due to be sent again. Resolves as `work` does. */
export async function sendingAgainAtOnce<Result>(sql: Sql, work: Promise<Result>): Promise<Result> {
  let over = false;
  const end = () => {
    over = true;
  };
  work.then(end, end);
  while (!over) {
    await backdateBroadcasts(sql);
    await Promise.race([work, sleep(EVERY_MS)]);
  }
  return work;
}
