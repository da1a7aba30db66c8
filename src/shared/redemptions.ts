import { bondRedemption, openRedemption, queueWeek, redemptionQueue } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";
import { perTransaction } from "./transaction.ts";

type Hex = `0x${string}`;
type Bonds = { holder: Hex; epochId: bigint; usdAmount: bigint };
type Redeemed = LogEvent & { args: Bonds & { luminaAmount: bigint; priceUsed: bigint } };
type Queued = LogEvent & {
  args: { holder: Hex; epochIdBond: bigint; usdAmount: bigint; targetThrottleEpoch: bigint };
};

const SECONDS_PER_WEEK = 604_800n;
/** The contract queues so many entries a week at most. */
const IDS_PER_WEEK = 10_000n;

/** The burns of bonds in this transaction that no redemption has used up yet. */
const burned = perTransaction((): string[] => []);
const keyOf = ({ holder, epochId, usdAmount }: Bonds) => `${holder.toLowerCase()} ${epochId} ${usdAmount}`;

export const noteBurn = (event: LogEvent, bonds: Bonds): void => void burned(event).push(keyOf(bonds));

/** Uses up a burn of these bonds. @returns whether there was one: a payment from the queue has none. */
function useBurn(event: LogEvent, bonds: Bonds): boolean {
  const waiting = burned(event);
  const index = waiting.indexOf(keyOf(bonds));
  if (index >= 0) waiting.splice(index, 1);
  return index >= 0;
}

/** Records a payment, at once or from the queue. @returns which of the two */
export async function recordRedemption(db: Db, event: Redeemed): Promise<"at once" | "from the queue"> {
  const { holder, epochId, usdAmount, luminaAmount: tokenAmount, priceUsed } = event.args;
  const atOnce = useBurn(event, { holder, epochId, usdAmount });
  const week = event.block.timestamp / SECONDS_PER_WEEK;
  const queueId = atOnce ? null : await takeOpen(db, { week, holder, epochId, usdAmount });
  await db
    .insert(bondRedemption)
    .values(rowAt(event, { holder, epochId, usdAmount, tokenAmount, priceUsed, queueId }));
  if (queueId !== null)
    await db.update(redemptionQueue, { queueId }).set({
      ...{ status: "paid", tokenAmount, priceUsed },
      ...{ paidAt: event.block.timestamp, paidTxHash: event.transaction.hash },
    });
  return atOnce ? "at once" : "from the queue";
}

/** Records an entry of the queue. Its id follows from the week and from the number of the week's earlier entries. */
export async function recordQueued(db: Db, event: Queued): Promise<void> {
  const { holder, epochIdBond: epochId, usdAmount, targetThrottleEpoch: week } = event.args;
  useBurn(event, { holder, epochId, usdAmount });
  const entries = (await db.find(queueWeek, { week }))?.entries ?? 0;
  const queueId = week * IDS_PER_WEEK + BigInt(entries);
  await db
    .insert(queueWeek)
    .values({ week, entries: 1 })
    .onConflictDoUpdate({ entries: entries + 1 });
  await db
    .insert(redemptionQueue)
    .values(rowAt(event, { queueId, holder, epochId, usdAmount, targetEpoch: week, status: "queued" }));
  await db
    .insert(openRedemption)
    .values({ week, holder, epochId, usdAmount, queueIds: [queueId] })
    .onConflictDoUpdate(({ queueIds }) => ({ queueIds: [...queueIds, queueId] }));
}

/** The lowest open entry of the week with these bonds, which is none from now on; null when the index knows none. */
async function takeOpen(db: Db, key: Bonds & { week: bigint }): Promise<bigint | null> {
  const [first, ...rest] = (await db.find(openRedemption, key))?.queueIds ?? [];
  if (first === undefined) return null;
  if (rest.length === 0) await db.delete(openRedemption, key);
  else await db.update(openRedemption, key).set({ queueIds: rest });
  return first;
}
