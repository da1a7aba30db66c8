import { ponder } from "ponder:registry";
import { listing, listingCancellation, sale } from "ponder:schema";
import { recordActivity } from "./shared/activity.ts";
import { type Db, type LogEvent, position } from "./shared/event.ts";
import { changeHolding } from "./shared/sums.ts";

/** USDC per bond, rounded down; 0 for a listing without bonds. */
const perUnit = (price: bigint, amount: bigint) => (amount === 0n ? 0n : price / amount);

ponder.on("BondMarketplace:Listed", async ({ event, context: { db } }) => {
  const { listingId, seller, epochId, amount, priceUSDC: price } = event.args;
  const listed = await db
    .insert(listing)
    .values({
      ...position(event),
      ...{ listingId, seller, epochId, amount, price },
      unitPrice: perUnit(price, amount),
      status: "active",
    })
    .onConflictDoNothing();
  if (listed === null) return;
  await changeHolding(db, seller, epochId, (held) => ({ escrowed: held.escrowed + amount }));
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
  const { seller, epochId, amount, unitPrice, blockTimestamp: listedAt, status } = row;
  if (status === "active") {
    await db
      .update(listing, { listingId })
      .set({ ...how, closedAt: event.block.timestamp, closedTxHash: event.transaction.hash });
    await changeHolding(db, seller, epochId, (held) => ({ escrowed: held.escrowed - amount }));
  }
  return { epochId, amount, unitPrice, listedAt };
}

ponder.on("BondMarketplace:Bought", async ({ event, context: { db } }) => {
  const { listingId, buyer, seller, priceUSDC: price, sellerFee, buyerFee } = event.args;
  const sold = await close(db, event, { status: "sold", buyer });
  const added = await db
    .insert(sale)
    .values({ ...position(event), listingId, buyer, seller, price, sellerFee, buyerFee, ...sold })
    .onConflictDoNothing();
  if (added === null) return;
  await recordActivity(db, event, {
    type: "marketplace_buy",
    actor: buyer,
    amount: price,
    ref: listingId.toString(),
  });
});

async function cancel(
  db: Db,
  event: LogEvent & { args: { listingId: bigint; seller: `0x${string}` } },
  emergency: boolean,
): Promise<void> {
  const { listingId, seller } = event.args;
  await close(db, event, { status: "cancelled" });
  await db
    .insert(listingCancellation)
    .values({ ...position(event), listingId, seller, emergency })
    .onConflictDoNothing();
}

ponder.on("BondMarketplace:Cancelled", async ({ event, context: { db } }) => {
  await cancel(db, event, false);
});

ponder.on("BondMarketplace:ListingEmergencyCancelled", async ({ event, context: { db } }) => {
  await cancel(db, event, true);
});
