import { burnExecution, tokenBurn } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { pairWithinTransaction } from "./pairing.ts";

type Attribution = Pick<typeof tokenBurn.$inferSelect, "source" | "usdcSpent" | "effectivePrice">;

/** The log of burned tokens and the report of who burned them: two logs of one transaction with the same owner and amount. */
const attributions = pairWithinTransaction<number, Attribution>();

type Burn = { burner: `0x${string}`; tokenAmount: bigint };
const keyOf = ({ burner, tokenAmount }: Burn) => `${burner.toLowerCase()} ${tokenAmount}`;

/** Records burned tokens: by whom the report before it says, and a direct burn until there is one. */
export async function recordBurn(db: Db, event: LogEvent, burn: Burn): Promise<void> {
  const reported = attributions.first(event, keyOf(burn), event.log.logIndex);
  const direct = { source: "direct", usdcSpent: 0n } as const;
  await db
    .insert(tokenBurn)
    .values(rowAt(event, { burner: burn.burner, tokenAmount: burn.tokenAmount, ...(reported ?? direct) }));
}

/** Says who burned the tokens of a log of this transaction. */
export async function attributeBurn(db: Db, event: LogEvent, burn: Burn, by: Attribution): Promise<void> {
  const logIndex = attributions.second(event, keyOf(burn), by);
  if (logIndex === undefined) return;
  await db.update(tokenBurn, { blockNumber: event.block.number, logIndex }).set(by);
}

type BurnExecuted = LogEvent & {
  args: { usdcSpent: bigint; tokenBurned: bigint; effectivePrice: bigint; timestamp: bigint };
};

/** From USDC's 6 decimals to 18. */
const PRICE_SCALE = 10n ** 12n;

/** Records the burner's report of its burn: the price and the spent USDC. */
export async function recordExecution(db: Db, event: BurnExecuted): Promise<void> {
  const { usdcSpent, tokenBurned, timestamp: executedAt } = event.args;
  const effectivePrice = event.args.effectivePrice * PRICE_SCALE;
  await db.insert(burnExecution).values(rowAt(event, { usdcSpent, tokenBurned, effectivePrice, executedAt }));
  const burn = { burner: event.log.address, tokenAmount: tokenBurned };
  await attributeBurn(db, event, burn, { source: "twap_burner", usdcSpent, effectivePrice });
}
