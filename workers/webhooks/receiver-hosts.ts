import { LRUCache } from "lru-cache";
import type { Sql } from "postgres";
import { createBatcher } from "../../lib/batcher.ts";

/** The receivers' hosts, which the dispatcher needs before it claims deliveries: they limit the concurrency per host. */

/** Subscriptions in one statement. */
const ROUND = 300;

/** Host and port of a subscription's URL, which never changes. Undefined when there is no such subscription. */
export type HostOf = (webhookId: string) => Promise<string | undefined>;

/** Reads hosts from the database, many in one statement, and caches the last `max`. */
export function createHostLookup(sql: Sql, max = 50_000): HostOf {
  const hosts = new LRUCache<string, string>({ max });
  const readHosts = createBatcher(async (ids: string[]) => {
    const rows = await sql<{ id: string; url: string }[]>`
      select id::text, url from service.webhook where id = any(${ids}::text[]::bigint[])`;
    for (const { id, url } of rows) hosts.set(id, URL.canParse(url) ? new URL(url).host : "");
  }, ROUND);
  return async (webhookId) => {
    if (!hosts.has(webhookId)) await readHosts(webhookId);
    return hosts.get(webhookId);
  };
}
