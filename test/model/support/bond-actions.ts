/** The market, redemptions, and giving bonds up. */
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import {
  type Action,
  amountUpTo,
  chosen,
  chosenPlayer,
  DAY,
  type Outcome,
  playerAt,
  type Scene,
  USDC,
  WEEK,
} from "./scene.ts";
import { type HoldingNote, holdingsAfter, type ListingNote, replaced } from "./world.ts";

const secondsLeft = ({ world, now }: Scene, { epochId }: HoldingNote) =>
  (world.maturities.get(epochId) ?? 0n) - now;

export const list: Action = (scene) => {
  const { protocol, world, draw } = scene;
  const held = chosen(
    world.holdings.filter((h) => secondsLeft(scene, h) > DAY + 10n && secondsLeft(scene, h) < 800n * DAY),
    draw.which,
  );
  if (!held || world.everythingPaused) return undefined;
  const { owner: seller, epochId, balance } = held;
  const amount = 1n + amountUpTo(balance - 1n, draw);
  // From a dollar a bond upwards, and seldom a whole number of units each.
  const price = amount * USDC + (BigInt(draw.size) % (amount * USDC));
  return async () => {
    const listingId = await act.listBond(protocol, playerAt(seller), epochId, amount, price);
    return {
      block: await protocol.client.getBlockNumber(),
      changed: {
        holdings: holdingsAfter(world, seller, epochId, -amount),
        listings: [...world.listings, { listingId, seller, epochId, amount, open: true }],
      },
    };
  };
};

const openListing = ({ world, draw }: Scene) =>
  chosen(
    world.listings.filter(({ open }) => open),
    draw.which,
  );

/** The listing is closed, and its bonds are `owner`'s. */
const closed = (
  { world }: Scene,
  listing: ListingNote,
  owner: `0x${string}`,
  { blockNumber }: { blockNumber: bigint },
): Outcome => ({
  block: blockNumber,
  changed: {
    holdings: holdingsAfter(world, owner, listing.epochId, listing.amount),
    listings: replaced(world.listings, listing, { ...listing, open: false }),
  },
});

export const buy: Action = (scene) => {
  const listing = openListing(scene);
  const buyer = chosenPlayer(scene);
  if (!listing || scene.world.everythingPaused) return undefined;
  return async () =>
    closed(scene, listing, buyer.address, await act.buyListing(scene.protocol, buyer, listing.listingId));
};

export const cancelListing: Action = (scene) => {
  const listing = openListing(scene);
  if (!listing) return undefined;
  const { listingId, seller } = listing;
  return async () =>
    closed(scene, listing, seller, await act.cancelListing(scene.protocol, playerAt(seller), listingId));
};

export const emergencyCancel: Action = (scene) => {
  const listing = openListing(scene);
  if (!listing) return undefined;
  const { listingId, seller } = listing;
  return async () =>
    closed(scene, listing, seller, await act.emergencyCancelListing(scene.protocol, scene.owner, listingId));
};

const matured = (scene: Scene) => scene.world.holdings.filter((held) => secondsLeft(scene, held) <= 0n);

/** Whether it is paid or queued is the vault's to say. */
async function redeemed(scene: Scene, { owner, epochId }: HoldingNote, amount: bigint): Promise<Outcome> {
  const { protocol, world } = scene;
  const redemption = await act.redeem(protocol, playerAt(owner), epochId, amount);
  const holdings = holdingsAfter(world, owner, epochId, -amount);
  const block = redemption.receipt.blockNumber;
  if (redemption.state === "paid") return { block, kind: "redeem", changed: { holdings } };
  const queue = [...world.queue, redemption.targetEpoch];
  return { block, kind: "queue", changed: { holdings, queue } };
}

function lesser(one: bigint, other: bigint): bigint {
  if (one < other) return one;
  return other;
}

export const redeem: Action = (scene) => {
  const { world, payable, draw } = scene;
  const held = chosen(matured(scene), draw.which);
  if (!held || payable < 1n || world.everythingPaused) return undefined;
  const most = lesser(held.balance, payable);
  return () => redeemed(scene, held, 1n + amountUpTo(most - 1n, draw));
};

export const queue: Action = (scene) => {
  const { world, payable, draw } = scene;
  const held = chosen(
    matured(scene).filter(({ balance }) => balance > payable),
    draw.which,
  );
  if (!held || world.everythingPaused) return undefined;
  return () => redeemed(scene, held, held.balance - amountUpTo(held.balance - payable - 1n, draw));
};

export const processQueue: Action = (scene) => {
  const { protocol, world, now } = scene;
  const week = now / WEEK;
  const [first] = world.queue;
  if (first === undefined || first > week || world.everythingPaused) return undefined;
  return async () => {
    const paid = await act.processQueue(protocol, chosenPlayer(scene), week);
    const block = await protocol.client.getBlockNumber();
    return {
      block,
      changed: { queue: world.queue.slice(paid.length) },
      // A week that has paid all it may pays nothing more.
      ...(paid.length === 0 ? { kind: "refused" as const } : {}),
    };
  };
};

export const surrender: Action = ({ protocol, world, draw }) => {
  const held = chosen(world.holdings, draw.which);
  if (!held) return undefined;
  const { owner, epochId, balance } = held;
  const amount = amountUpTo(balance, draw);
  return async () => {
    const { blockNumber } = await act.surrenderBonds(protocol, playerAt(owner), epochId, amount);
    return { block: blockNumber, changed: { holdings: holdingsAfter(world, owner, epochId, -amount) } };
  };
};
