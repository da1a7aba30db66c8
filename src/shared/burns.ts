import { burnExecution, burnerIncome, type burnSources, tokenBurn } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";

export type BurnerKind = Exclude<(typeof burnSources)[number], "direct">;

/** The log of burned tokens and a burner's `BurnExecuted`: two logs of one transaction with the same burner and amount. */
const attributions = pairWithinTransaction<
  number,
  { source: BurnerKind; usdcSpent: bigint; effectivePrice: bigint }
>();

type Burn = { burner: `0x${string}`; tokenAmount: bigint };
const keyOf = ({ burner, tokenAmount }: Burn) => `${burner.toLowerCase()} ${tokenAmount}`;

/** Records burned tokens: a burner's if it has reported the burn before, and a direct burn until then. */
export async function recordBurn(db: Db, event: LogEvent, burn: Burn): Promise<void> {
  const reported = attributions.first(event, keyOf(burn), event.log.logIndex);
  const direct = { source: "direct", usdcSpent: 0n } as const;
  await db
    .insert(tokenBurn)
    .values(rowAt(event, { burner: burn.burner, tokenAmount: burn.tokenAmount, ...(reported ?? direct) }));
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
  const report = { source, usdcSpent, effectivePrice };
  const logIndex = attributions.second(event, keyOf({ burner, tokenAmount: tokenBurned }), report);
  if (logIndex === undefined) return;
  await db.update(tokenBurn, { blockNumber: event.block.number, logIndex }).set(report);
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
