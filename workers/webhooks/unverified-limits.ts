import type { Sql } from "postgres";
import type { Batch } from "./claim-deliveries.ts";

/** Limits on calls to receivers that have not echoed a challenge: a webhook may name a host that never asked for it. */

/** Calls within an hour: to one host for all unverified webhooks of all wallets, and for all those of one wallet. */
type CallLimits = { readonly host: number; readonly wallet: number };
/** Tests, by which a receiver is verified, count for themselves: what is delivered to a host must not prevent that. */
export type UnverifiedLimits = { readonly deliveries: CallLimits; readonly tests: CallLimits };

/** Retries count too. A wallet's limit is below a host's, so that no wallet alone uses up a host that others share. */
export const UNVERIFIED_LIMITS: UnverifiedLimits = {
  deliveries: { host: 60, wallet: 30 },
  tests: { host: 60, wallet: 10 },
};
const HOUR_MS = 3_600_000;

/** Counts a call to a subscription's receiver. @returns ms until it may be made: 0 for now */
export type CountCall = (subscription: Pick<Batch, "url" | "wallet" | "verified">) => Promise<number>;

/** Counts over all writers; without limits nothing is counted. */
export function createCallCount(
  sql: Sql,
  what: keyof UnverifiedLimits,
  limits: UnverifiedLimits | undefined,
): CountCall {
  return async ({ url, wallet, verified }) => {
    if (verified || !limits) return 0;
    // The wallet first: what is above its own limit must not use up the host's.
    const ofWallet = await count(sql, `unverified-${what}:${wallet}`, limits[what].wallet);
    if (ofWallet > 0) return ofWallet;
    return count(sql, `unverified-${what}:${new URL(url).host}`, limits[what].host);
  };
}

/** The api deletes rows that have expired. @returns ms until the limit allows another call */
async function count(sql: Sql, subject: string, limit: number): Promise<number> {
  const now = Date.now();
  const [row] = await sql<{ points: number; expire: string }[]>`
    insert into service.rate_limit as r (key, points, expire) values (${`cover:limit:${subject}`}, 1, ${now + HOUR_MS})
    on conflict (key) do update set points = case when r.expire <= ${now} then 1 else r.points + 1 end,
      expire = case when r.expire <= ${now} then excluded.expire else r.expire end
    returning points, expire`;
  if (!row) throw new Error("the database returned no count");
  return row.points > limit ? Math.max(1, Number(row.expire) - now) : 0;
}
