import { activity, burnExecution, burnerIncome, type burnSources, tokenBurn } from "ponder:schema";
import { type Db, type LogEvent, position } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";
import { changeBurnDay, changeBurnSource } from "./sums.ts";

export type BurnerKind = Exclude<(typeof burnSources)[number], "direct">;

/**
 * Links burned tokens (`first`) with a burner's `BurnExecuted` (`second`): two logs of one transaction with the same amount.
 * Of several burns, one of the burner's own tokens is preferred.
 */
export async function attributeBurn(
  db: Db,
  event: LogEvent,
  side: "first" | "second",
  burn: { burner: `0x${string}`; tokenAmount: bigint },
): Promise<void> {
  const { number: blockNumber } = event.block;
  const { logIndex } = event.log;
  const other = await pairWithinTransaction(db, "burn", event.transaction.hash, {
    ...{ side, key: burn.tokenAmount.toString(), hint: burn.burner.toLowerCase(), logIndex },
  });
  if (other === undefined) return;
  const [burnAt, executionAt] = side === "first" ? [logIndex, other] : [other, logIndex];
  const execution = await db.find(burnExecution, { blockNumber, logIndex: executionAt });
  if (execution === null) return;
  const { source, usdcSpent, effectivePrice, tokenBurned } = execution;
  await db.update(tokenBurn, { blockNumber, logIndex: burnAt }).set({ source, usdcSpent, effectivePrice });
  await db.update(activity, { blockNumber, logIndex: burnAt }).set({ ref: source });
  await changeBurnSource(db, "direct", (sums) => ({
    tokenBurned: sums.tokenBurned - tokenBurned,
    burns: sums.burns - 1,
  }));
  await changeBurnSource(db, source, (sums) => ({
    tokenBurned: sums.tokenBurned + tokenBurned,
    burns: sums.burns + 1,
  }));
}

type BurnExecuted = LogEvent & {
  args: { usdcSpent: bigint; tokenBurned: bigint; effectivePrice: bigint; timestamp: bigint };
};

/** Records a burner's report of its burn: the price and the spent USDC. */
export async function recordExecution(db: Db, event: BurnExecuted, source: BurnerKind): Promise<void> {
  const { usdcSpent, tokenBurned, effectivePrice, timestamp: executedAt } = event.args;
  const burner = event.log.address;
  const added = await db
    .insert(burnExecution)
    .values({ ...position(event), source, burner, usdcSpent, tokenBurned, effectivePrice, executedAt })
    .onConflictDoNothing();
  if (added === null) return;
  await changeBurnDay(db, event.block.timestamp, (sums) => ({ usdcSpent: sums.usdcSpent + usdcSpent }));
  await changeBurnSource(db, source, (sums) => ({ usdcSpent: sums.usdcSpent + usdcSpent }));
  await attributeBurn(db, event, "second", { burner, tokenAmount: tokenBurned });
}

type Received = LogEvent & { args: { from: `0x${string}`; usdcAmount: bigint } };

/** Records USDC that a burner received. */
export async function recordIncome(
  db: Db,
  event: Received,
  source: BurnerKind,
  kind: "premium" | "marketplace_fee",
): Promise<void> {
  await db
    .insert(burnerIncome)
    .values({ ...position(event), ...event.args, source, kind })
    .onConflictDoNothing();
}
