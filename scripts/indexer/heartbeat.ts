import type { Sql } from "postgres";

/** Between two signs of life, in ms; readers take an indexer for dead after five that did not come. */
const EVERY_MS = 2000;

/** Notes that this process lives, for as long as it does. A note that fails is made up for by the next. */
export function startHeartbeat(sql: Sql, schema: string): void {
  const beat = () =>
    sql`update service.indexer_deployment set heartbeat_at = now() where schema_name = ${schema}`.catch(
      () => {},
    );
  void beat();
  setInterval(beat, EVERY_MS).unref();
}
