import { ponder } from "ponder:registry";
import { bondSupplyEvent, bondTransfer } from "ponder:schema";
import { zeroAddress } from "viem";
import { type Db, type LogEvent, position } from "./shared/event.ts";
import { changeEpoch, changeHolding } from "./shared/sums.ts";

type Transfer = {
  operator: `0x${string}`;
  from: `0x${string}`;
  to: `0x${string}`;
  epochId: bigint;
  amount: bigint;
};

/** Moves a balance. Mints come from the zero address and burns go to it, so it has no balance itself. */
async function transfer(db: Db, event: LogEvent, item: number, moved: Transfer): Promise<void> {
  const { from, to, epochId, amount } = moved;
  const added = await db
    .insert(bondTransfer)
    .values({ ...position(event), item, ...moved })
    .onConflictDoNothing();
  if (added === null) return;
  if (from !== zeroAddress) {
    await changeHolding(db, from, epochId, (held) => ({ balance: held.balance - amount }));
  }
  if (to !== zeroAddress) {
    await changeHolding(db, to, epochId, (held) => ({ balance: held.balance + amount }));
  }
  const supplied = (from === zeroAddress ? amount : 0n) - (to === zeroAddress ? amount : 0n);
  if (supplied === 0n) return;
  await changeEpoch(db, epochId, (sums) => ({ supply: sums.supply + supplied }));
}

ponder.on("ClaimBond:TransferSingle", async ({ event, context: { db } }) => {
  const { operator, from, to, id: epochId, value: amount } = event.args;
  await transfer(db, event, 0, { operator, from, to, epochId, amount });
});

ponder.on("ClaimBond:TransferBatch", async ({ event, context: { db } }) => {
  const { operator, from, to, ids, values } = event.args;
  for (const [item, epochId] of ids.entries()) {
    await transfer(db, event, item, { operator, from, to, epochId, amount: values[item] ?? 0n });
  }
});

type SupplyEvent = Pick<typeof bondSupplyEvent.$inferSelect, "kind" | "epochId" | "holder" | "amount">;

/** @returns false when the event was already recorded. */
async function recordSupply(db: Db, event: LogEvent, row: SupplyEvent): Promise<boolean> {
  const added = await db
    .insert(bondSupplyEvent)
    .values({ ...position(event), ...row })
    .onConflictDoNothing();
  return added !== null;
}

ponder.on("ClaimBond:BondsMinted", async ({ event, context: { db } }) => {
  const { epochId, to: holder, usdAmount: amount } = event.args;
  await recordSupply(db, event, { kind: "minted", epochId, holder, amount });
});

ponder.on("ClaimBond:BondsBurned", async ({ event, context: { db } }) => {
  const { epochId, from: holder, usdAmount: amount } = event.args;
  await recordSupply(db, event, { kind: "burned", epochId, holder, amount });
});

ponder.on("ClaimBond:BondsBurnedByHolder", async ({ event, context: { db } }) => {
  const { epochId, holder, amount } = event.args;
  if (!(await recordSupply(db, event, { kind: "surrendered", epochId, holder, amount }))) return;
  await changeEpoch(db, epochId, (sums) => ({ surrendered: sums.surrendered + amount }));
  await changeHolding(db, holder, epochId, (sums) => ({ surrendered: sums.surrendered + amount }));
});

ponder.on("ClaimBond:EpochCreated", async ({ event, context: { db } }) => {
  const { epochId, maturityDate } = event.args;
  await recordSupply(db, event, { kind: "epoch_created", epochId, holder: null, amount: maturityDate });
  await changeEpoch(db, epochId, () => ({ maturityDate }));
});
