import { burnExecution, burnerIncome, type burnSources, tokenBurn } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";

export type BurnerKind = Exclude<(typeof burnSources)[number], "direct">;

/**
 * Links burned tokens (`first`) with a burner's `BurnExecuted` (`second`): two logs of one transaction with the same burner
 * and amount.
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
    ...{ side, key: `${burn.burner.toLowerCase()} ${burn.tokenAmount}`, logIndex },
  });
  if (other === undefined) return;
  const [burnAt, executionAt] = side === "first" ? [logIndex, other] : [other, logIndex];
  const execution = await db.find(burnExecution, { blockNumber, logIndex: executionAt });
  if (execution === null) return;
  const { source, usdcSpent, effectivePrice } = execution;
  await db.update(tokenBurn, { blockNumber, logIndex: burnAt }).set({ source, usdcSpent, effectivePrice });
}

type BurnExecuted = LogEvent & {
  args: { usdcSpent: bigint; tokenBurned: bigint; effectivePrice: bigint; timestamp: bigint };
};

/** Records a burner's report of its burn: the price and the spent USDC. */
export async function recordExecution(db: Db, event: BurnExecuted, source: BurnerKind): Promise<void> {
  const { usdcSpent, tokenBurned, effectivePrice, timestamp: executedAt } = event.args;
  const burner = event.log.address;
  await db
    .insert(burnExecution)
    .values(rowAt(event, { source, burner, usdcSpent, tokenBurned, effectivePrice, executedAt }));
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
  await db.insert(burnerIncome).values(rowAt(event, { source, kind, ...event.args }));
}
