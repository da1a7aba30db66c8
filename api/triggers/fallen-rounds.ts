/** The rounds that count for a policy: in its window, and at or below its trigger price. */
import { type SQL, sql } from "drizzle-orm";
import { fallenRounds, newestFallenRounds } from "../../lib/indexed/due.ts";
import { CONFIRMATIONS, FEED_TO_PRICE, MAX_PRICE_AGE } from "../../lib/price-rules.ts";

/** A round as text, out of JSON: the answer has 8 decimals, the time is in Unix seconds. */
type RoundText = { readonly roundId: string; readonly answer: string; readonly updatedAt: string };

/** A round that counts; its price has 18 decimals. */
export type FallenRound = { readonly roundId: bigint; readonly price: bigint; readonly updatedAt: bigint };

/** Of a row of `policy`: the newest rounds that count, three at most, by rising id; null for none. */
export const newestFallen = (): SQL<RoundText[] | null> => sql<RoundText[] | null>`(
  select json_agg(json_build_object(
    'roundId', n.round_id::text, 'answer', n.answer::text, 'updatedAt', n.updated_at::text) order by n.round_id)
  from (select r.round_id, r.answer, r.updated_at from ${newestFallenRounds()}) n)`;

/** Of a row of `policy`: the time of the third round that counts, by the rounds' times; null before it. */
export const metAt = (): SQL<string | null> => sql<string | null>`(
  select r.updated_at::text from ${fallenRounds()}
  order by r.updated_at, r.round_id limit 1 offset ${sql.raw(String(CONFIRMATIONS - 1))})`;

export const toFallenRounds = (rounds: readonly RoundText[] | null): FallenRound[] =>
  (rounds ?? []).map(({ roundId, answer, updatedAt }) => ({
    roundId: BigInt(roundId),
    price: BigInt(answer) * FEED_TO_PRICE,
    updatedAt: BigInt(updatedAt),
  }));

/** The last second in which the shield takes three rounds as a proof: the newest is an hour old then. */
export function freshUntil(rounds: readonly FallenRound[]): bigint {
  const [newest = 0n] = rounds.map(({ updatedAt }) => updatedAt).sort((a, b) => Number(b - a));
  return newest + BigInt(MAX_PRICE_AGE);
}
