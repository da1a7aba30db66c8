import type { Sql } from "postgres";

/** Between two heartbeats, in ms. After five missed ones readers consider the indexer dead. */
const EVERY_MS = 2000;

/** Updates this indexer's heartbeat until the process ends. A failed update is ignored; the next one replaces it. */
export function startHeartbeat(sql: Sql, schema: string): void {
  const beat = () =>
    sql`update service.indexer_deployment set heartbeat_at = now() where schema_name = ${schema}`.catch(
      () => {},
    );
  void beat();
  setInterval(beat, EVERY_MS).unref();
}
