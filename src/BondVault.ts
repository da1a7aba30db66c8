import { ponder } from "ponder:registry";
import { bondRedemption, redemptionQueue } from "ponder:schema";
import { recordIssue } from "./shared/bonds.ts";
import { type Db, rowAt } from "./shared/event.ts";
import { changeVault, recordVault } from "./shared/vault.ts";

// The obligations have risen at the bond's mint already, see `ClaimBond.ts`.
ponder.on("BondVault:BondIssued", async ({ event, context: { db } }) => {
  await recordIssue(db, event);
});

/** Subtracts a payment from the reserve, which is null until an event has named its balance. */
const pay = (db: Db, tokenAmount: bigint) =>
  changeVault(db, ({ reserve }) => ({ reserve: reserve === null ? null : reserve - tokenAmount }));

ponder.on("BondVault:BondRedeemed", async ({ event, context: { db } }) => {
  await db.insert(bondRedemption).values(rowAt(event, event.args));
  await pay(db, event.args.tokenAmount);
});

ponder.on("BondVault:BondQueued", async ({ event, context: { db } }) => {
  await db
    .insert(redemptionQueue)
    .values(rowAt(event, { status: "queued", ...event.args }))
    .onConflictDoNothing();
});

ponder.on("BondVault:QueueProcessed", async ({ event, context: { db } }) => {
  const { queueId, tokenAmount, priceUsed } = event.args;
  const entry = await db.find(redemptionQueue, { queueId });
  await db
    .insert(bondRedemption)
    .values(rowAt(event, { epochId: entry?.epochId, usdAmount: entry?.usdAmount, ...event.args }));
  await pay(db, tokenAmount);
  if (entry === null) return;
  await db.update(redemptionQueue, { queueId }).set({
    ...{ status: "paid", tokenAmount, priceUsed },
    ...{ paidAt: event.block.timestamp, paidTxHash: event.transaction.hash },
  });
});

ponder.on("BondVault:CapacityReserved", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "reserved", amount, newTotal });
});

ponder.on("BondVault:ReservationCommitted", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "committed", amount, newTotal });
});

ponder.on("BondVault:ReservationReleased", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "released", amount, newTotal });
});

ponder.on("BondVault:ObligationsDecreased", async ({ event, context: { db } }) => {
  const { amount, newTotal, caller } = event.args;
  await recordVault(db, event, { kind: "obligations_decreased", amount, newTotal, caller });
  await changeVault(db, () => ({ obligations: newTotal }));
});

ponder.on("BondVault:ReservesBurned", async ({ event, context: { db } }) => {
  const { amount, newBalance: newTotal, caller } = event.args;
  await recordVault(db, event, { kind: "reserves_burned", amount, newTotal, caller });
  await changeVault(db, () => ({ reserve: newTotal }));
});

ponder.on("BondVault:ReserveDeposited", async ({ event, context: { db } }) => {
  const { amount, newBalance: newTotal, from: caller } = event.args;
  await recordVault(db, event, { kind: "reserve_deposited", amount, newTotal, caller });
  await changeVault(db, () => ({ reserve: newTotal }));
});
