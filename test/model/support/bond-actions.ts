/** Actions on listings, redemptions and surrendered bonds. */
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import {
  type Action,
  type ActionContext,
  amountUpTo,
  DAY,
  type Outcome,
  pick,
  pickUser,
  USDC,
  userAt,
  WEEK,
} from "./action.ts";
import { holdingsAfter, type ModelHolding, type ModelListing, replaced } from "./model-state.ts";

const secondsLeft = ({ model, now }: ActionContext, { epochId }: ModelHolding) =>
  (model.maturities.get(epochId) ?? 0n) - now;

export const list: Action = (context) => {
  const { protocol, model, draw } = context;
  const held = pick(
    model.holdings.filter((h) => secondsLeft(context, h) > DAY + 10n && secondsLeft(context, h) < 800n * DAY),
    draw.which,
  );
  if (!held || model.globallyPaused) return undefined;
  const { owner: seller, epochId, balance } = held;
  const amount = 1n + amountUpTo(balance - 1n, draw);
  // At least a dollar, below or above the face, and rarely a whole number of units per bond.
  const price = USDC + (BigInt(draw.size) % (2n * amount * USDC));
  return async () => {
    const listingId = await act.listBond(protocol, userAt(seller), epochId, amount, price);
    return {
      block: await protocol.client.getBlockNumber(),
      changed: {
        holdings: holdingsAfter(model, seller, epochId, -amount),
        listings: [...model.listings, { listingId, seller, epochId, amount, open: true }],
      },
    };
  };
};

const openListing = ({ model, draw }: ActionContext) =>
  pick(
    model.listings.filter(({ open }) => open),
    draw.which,
  );

/** The listing is closed and `owner` has its bonds. */
const closed = (
  { model }: ActionContext,
  listing: ModelListing,
  owner: `0x${string}`,
  { blockNumber }: { blockNumber: bigint },
): Outcome => ({
  block: blockNumber,
  changed: {
    holdings: holdingsAfter(model, owner, listing.epochId, listing.amount),
    listings: replaced(model.listings, listing, { ...listing, open: false }),
  },
});

export const buy: Action = (context) => {
  const listing = openListing(context);
  const buyer = pickUser(context);
  if (!listing || context.model.globallyPaused) return undefined;
  return async () =>
    closed(context, listing, buyer.address, await act.buyListing(context.protocol, buyer, listing.listingId));
};

export const cancelListing: Action = (context) => {
  const listing = openListing(context);
  if (!listing) return undefined;
  const { listingId, seller } = listing;
  return async () =>
    closed(context, listing, seller, await act.cancelListing(context.protocol, userAt(seller), listingId));
};

export const emergencyCancel: Action = (context) => {
  const listing = openListing(context);
  if (!listing) return undefined;
  const { listingId, seller } = listing;
  return async () =>
    closed(
      context,
      listing,
      seller,
      await act.emergencyCancelListing(context.protocol, context.owner, listingId),
    );
};

const matured = (context: ActionContext) =>
  context.model.holdings.filter((held) => secondsLeft(context, held) <= 0n);

/** The vault decides whether a redemption is paid or queued. */
async function redeemed(
  context: ActionContext,
  { owner, epochId }: ModelHolding,
  amount: bigint,
): Promise<Outcome> {
  const { protocol, model } = context;
  const redemption = await act.redeem(protocol, userAt(owner), epochId, amount);
  const holdings = holdingsAfter(model, owner, epochId, -amount);
  const block = redemption.receipt.blockNumber;
  if (redemption.state === "paid") return { block, kind: "redeem", changed: { holdings } };
  const queue = [...model.queue, redemption.targetEpoch];
  return { block, kind: "queue", changed: { holdings, queue } };
}

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);

export const redeem: Action = (context) => {
  const { model, payable, draw } = context;
  const held = pick(matured(context), draw.which);
  if (!held || payable < 1n || model.globallyPaused) return undefined;
  const most = lesser(held.balance, payable);
  return () => redeemed(context, held, 1n + amountUpTo(most - 1n, draw));
};

export const queue: Action = (context) => {
  const { model, payable, draw } = context;
  const held = pick(
    matured(context).filter(({ balance }) => balance > payable),
    draw.which,
  );
  if (!held || model.globallyPaused) return undefined;
  return () => redeemed(context, held, held.balance - amountUpTo(held.balance - payable - 1n, draw));
};

export const processQueue: Action = (context) => {
  const { protocol, model, now } = context;
  const week = now / WEEK;
  const [first] = model.queue;
  if (first === undefined || first > week || model.globallyPaused) return undefined;
  return async () => {
    const paid = await act.processQueue(protocol, pickUser(context), week);
    const block = await protocol.client.getBlockNumber();
    return {
      block,
      changed: { queue: model.queue.slice(paid.length) },
      // A week whose throttle is used up pays nothing more.
      ...(paid.length === 0 ? { kind: "refused" as const } : {}),
    };
  };
};

export const surrender: Action = ({ protocol, model, draw }) => {
  const held = pick(model.holdings, draw.which);
  if (!held) return undefined;
  const { owner, epochId, balance } = held;
  const amount = amountUpTo(balance, draw);
  return async () => {
    const { blockNumber } = await act.surrenderBonds(protocol, userAt(owner), epochId, amount);
    return { block: blockNumber, changed: { holdings: holdingsAfter(model, owner, epochId, -amount) } };
  };
};
