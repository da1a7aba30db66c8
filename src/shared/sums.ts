import { bondEpoch, bondHolding, burnDay, burnSourceStats, policyClock } from "ponder:schema";
import type { Db } from "./event.ts";

/**
 * Maintains sums, so that reads need not count rows. Each function applies a change to a row that starts at zero. The caller
 * must make sure that an event is counted once.
 */

const SECONDS_PER_MINUTE = 60n;
const SECONDS_PER_DAY = 86_400n;

type Change<Row> = (row: Row) => Partial<Row>;
type Row<Table extends { $inferSelect: unknown }> = Table["$inferSelect"];

/** Adds an open policy to the minutes in which it expires and its waiting period ends; `by` -1 removes a closed one. */
export async function countInClock(
  db: Db,
  policy: { waitingEndsAt: bigint | null; expiresAt: bigint | null },
  by: 1 | -1,
): Promise<void> {
  for (const [edge, at] of [
    ["expiry", policy.expiresAt],
    ["waiting", policy.waitingEndsAt],
  ] as const) {
    if (at === null) continue;
    await db
      .insert(policyClock)
      .values({ edge, minute: at - (at % SECONDS_PER_MINUTE), policies: by })
      .onConflictDoUpdate((row) => ({ policies: row.policies + by }));
  }
}

export async function changeEpoch(
  db: Db,
  epochId: bigint,
  change: Change<Omit<Row<typeof bondEpoch>, "epochId">>,
): Promise<void> {
  const none = { maturityDate: null, supply: 0n, issued: 0n, redeemed: 0n, queued: 0n, surrendered: 0n };
  await db
    .insert(bondEpoch)
    .values({ epochId, ...none, ...change(none) })
    .onConflictDoUpdate(change);
}

export async function changeHolding(
  db: Db,
  owner: `0x${string}`,
  epochId: bigint,
  change: Change<Omit<Row<typeof bondHolding>, "owner" | "epochId">>,
): Promise<void> {
  const none = { balance: 0n, escrowed: 0n, issued: 0n, redeemed: 0n, queued: 0n, surrendered: 0n };
  await db
    .insert(bondHolding)
    .values({ owner, epochId, ...none, ...change(none) })
    .onConflictDoUpdate(change);
}

export async function changeBurnDay(
  db: Db,
  timestamp: bigint,
  change: Change<Omit<Row<typeof burnDay>, "dayStart">>,
): Promise<void> {
  const none = { tokenBurned: 0n, usdcSpent: 0n, burns: 0 };
  await db
    .insert(burnDay)
    .values({ dayStart: timestamp - (timestamp % SECONDS_PER_DAY), ...none, ...change(none) })
    .onConflictDoUpdate(change);
}

export async function changeBurnSource(
  db: Db,
  source: Row<typeof burnSourceStats>["source"],
  change: Change<Omit<Row<typeof burnSourceStats>, "source">>,
): Promise<void> {
  const none = { tokenBurned: 0n, usdcSpent: 0n, burns: 0 };
  await db
    .insert(burnSourceStats)
    .values({ source, ...none, ...change(none) })
    .onConflictDoUpdate(change);
}
