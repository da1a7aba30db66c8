import type { Sql } from "postgres";
import { createBatcher } from "../../lib/batcher.ts";

/** Whom a subscription calls, known before anything of it is taken: its turn waits for a place at that host. */

const ROUND = 300;

/** The host and port of a subscription's address, which never changes. Undefined when there is no such subscription. */
export type HostOf = (webhookId: string) => Promise<string | undefined>;

/** Those met of late are not looked up again. */
export function createHosts(sql: Sql, max = 50_000): HostOf {
  const known = new Map<string, string>();
  const looks = createBatcher(async (ids: string[]) => {
    const rows = await sql<{ id: string; url: string }[]>`
      select id::text, url from service.webhook where id = any(${ids}::text[]::bigint[])`;
    if (known.size + rows.length > max) known.clear();
    for (const { id, url } of rows) known.set(id, URL.canParse(url) ? new URL(url).host : "");
  }, ROUND);
  return async (webhookId) => {
    if (!known.has(webhookId)) await looks(webhookId);
    return known.get(webhookId);
  };
}
