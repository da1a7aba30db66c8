import { ponder } from "ponder:registry";
import { listing, listingCancellation, proceedsEvent, sale } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./shared/event.ts";

/** USDC per bond, rounded down; 0 for a listing without bonds. */
const perUnit = (price: bigint, amount: bigint) => (amount === 0n ? 0n : price / amount);

ponder.on("BondMarketplace:Listed", async ({ event, context: { db } }) => {
  const { priceUSDC: price, ...listed } = event.args;
  const unitPrice = perUnit(price, listed.amount);
  await db
    .insert(listing)
    .values(rowAt(event, { price, unitPrice, status: "active", ...listed }))
    .onConflictDoNothing();
});

/** Closes an active listing. @returns the listing, or null when the index does not know it. */
async function close(
  db: Db,
  event: LogEvent & { args: { listingId: bigint } },
  how: { status: "sold"; buyer: `0x${string}` } | { status: "cancelled" },
) {
  const { listingId } = event.args;
  const row = await db.find(listing, { listingId });
  if (row === null) return null;
  const { epochId, amount, unitPrice, blockTimestamp: listedAt, status } = row;
  if (status === "active") {
    await db
      .update(listing, { listingId })
      .set({ ...how, closedAt: event.block.timestamp, closedTxHash: event.transaction.hash });
  }
  return { epochId, amount, unitPrice, listedAt };
}

ponder.on("BondMarketplace:Bought", async ({ event, context: { db } }) => {
  const { priceUSDC: price, ...bought } = event.args;
  const sold = await close(db, event, { status: "sold", buyer: bought.buyer });
  await db.insert(sale).values(rowAt(event, { price, ...bought, ...sold }));
});

ponder.on("BondMarketplace:Cancelled", async ({ event, context: { db } }) => {
  const { listingId, seller } = event.args;
  await close(db, event, { status: "cancelled" });
  await db.insert(listingCancellation).values(rowAt(event, { listingId, seller }));
});

ponder.on("BondMarketplace:WithdrawalCredited", async ({ event, context: { db } }) => {
  await db.insert(proceedsEvent).values(rowAt(event, { kind: "credited", ...event.args }));
});

ponder.on("BondMarketplace:Withdrawn", async ({ event, context: { db } }) => {
  await db.insert(proceedsEvent).values(rowAt(event, { kind: "withdrawn", ...event.args }));
});
