import { ponder } from "ponder:registry";
import { bondIssue, bondRedemption, redemptionQueue } from "ponder:schema";
import { recordActivity } from "./shared/activity.ts";
import { linkTrigger } from "./shared/bonds.ts";
import { type Db, type LogEvent, position } from "./shared/event.ts";
import { changeEpoch, changeHolding } from "./shared/sums.ts";
import { changeVault, recordVault } from "./shared/vault.ts";

ponder.on("BondVault:BondIssued", async ({ event, context: { db } }) => {
  const { to: holder, epochId, usdAmount } = event.args;
  const issued = await db
    .insert(bondIssue)
    .values({ ...position(event), holder, epochId, usdAmount })
    .onConflictDoNothing();
  if (issued === null) return;
  await changeEpoch(db, epochId, (sums) => ({ issued: sums.issued + usdAmount }));
  await changeHolding(db, holder, epochId, (sums) => ({ issued: sums.issued + usdAmount }));
  await changeVault(db, (vault) => ({ obligations: (vault.obligations ?? 0n) + usdAmount }));
  await linkTrigger(db, event, "second", holder);
  await recordActivity(db, event, {
    type: "bond_minted",
    actor: holder,
    amount: usdAmount,
    ref: epochId.toString(),
  });
});

/** Subtracts a payment from the reserve, which is null until an event has named its balance. */
const pay = (db: Db, tokenAmount: bigint) =>
  changeVault(db, ({ reserve }) => ({ reserve: reserve === null ? null : reserve - tokenAmount }));

ponder.on("BondVault:BondRedeemed", async ({ event, context: { db } }) => {
  const { holder, epochId, usdAmount, tokenAmount } = event.args;
  const redeemed = await db
    .insert(bondRedemption)
    .values({ ...position(event), ...event.args })
    .onConflictDoNothing();
  if (redeemed === null) return;
  await pay(db, tokenAmount);
  await changeEpoch(db, epochId, (sums) => ({ redeemed: sums.redeemed + usdAmount }));
  await changeHolding(db, holder, epochId, (sums) => ({ redeemed: sums.redeemed + usdAmount }));
  await recordActivity(db, event, {
    type: "bond_redeemed",
    actor: holder,
    amount: usdAmount,
    ref: epochId.toString(),
  });
});

ponder.on("BondVault:BondQueued", async ({ event, context: { db } }) => {
  const { holder, epochId, usdAmount } = event.args;
  const queued = await db
    .insert(redemptionQueue)
    .values({ ...position(event), ...event.args, status: "queued" })
    .onConflictDoNothing();
  if (queued === null) return;
  await changeEpoch(db, epochId, (sums) => ({ queued: sums.queued + usdAmount }));
  await changeHolding(db, holder, epochId, (sums) => ({ queued: sums.queued + usdAmount }));
});

/** Marks a queued redemption as paid. @returns it, or null when the index does not know it. */
async function payQueued(
  db: Db,
  event: LogEvent & { args: { queueId: bigint; tokenAmount: bigint; priceUsed: bigint } },
) {
  const { queueId, tokenAmount, priceUsed } = event.args;
  const entry = await db.find(redemptionQueue, { queueId });
  if (entry === null) return null;
  const { holder, epochId, usdAmount } = entry;
  await db.update(redemptionQueue, { queueId }).set({
    ...{ status: "paid", tokenAmount, priceUsed },
    ...{ paidAt: event.block.timestamp, paidTxHash: event.transaction.hash },
  });
  return { holder, epochId, usdAmount };
}

ponder.on("BondVault:QueueProcessed", async ({ event, context: { db } }) => {
  const { queueId, holder, tokenAmount } = event.args;
  const entry = await payQueued(db, event);
  const paid = await db
    .insert(bondRedemption)
    .values({
      ...position(event),
      ...event.args,
      epochId: entry?.epochId ?? null,
      usdAmount: entry?.usdAmount ?? null,
    })
    .onConflictDoNothing();
  if (paid === null) return;
  await pay(db, tokenAmount);
  await recordActivity(db, event, {
    type: "bond_redeemed",
    actor: holder,
    amount: entry?.usdAmount ?? 0n,
    ref: entry?.epochId.toString() ?? `queue:${queueId}`,
  });
  if (entry === null) return;
  const { epochId, usdAmount } = entry;
  const move = (sums: { queued: bigint; redeemed: bigint }) => ({
    queued: sums.queued - usdAmount,
    redeemed: sums.redeemed + usdAmount,
  });
  await changeEpoch(db, epochId, move);
  await changeHolding(db, entry.holder, epochId, move);
});

ponder.on("BondVault:CapacityReserved", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "reserved", amount, newTotal }, { totalReserved: newTotal });
});

ponder.on("BondVault:ReservationCommitted", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "committed", amount, newTotal }, { totalReserved: newTotal });
});

ponder.on("BondVault:ReservationReleased", async ({ event, context: { db } }) => {
  const { amount, newTotalReserved: newTotal } = event.args;
  await recordVault(db, event, { kind: "released", amount, newTotal }, { totalReserved: newTotal });
});

ponder.on("BondVault:ObligationsDecreased", async ({ event, context: { db } }) => {
  const { amount, newTotal, caller } = event.args;
  const row = { kind: "obligations_decreased", amount, newTotal, caller } as const;
  await recordVault(db, event, row, { obligations: newTotal });
});

ponder.on("BondVault:ReservesBurned", async ({ event, context: { db } }) => {
  const { amount, newBalance: newTotal, caller } = event.args;
  await recordVault(db, event, { kind: "reserves_burned", amount, newTotal, caller }, { reserve: newTotal });
});

ponder.on("BondVault:ReserveDeposited", async ({ event, context: { db } }) => {
  const { amount, newBalance: newTotal, from: caller } = event.args;
  await recordVault(
    db,
    event,
    { kind: "reserve_deposited", amount, newTotal, caller },
    { reserve: newTotal },
  );
});
