/** Actions on listings, redemptions and surrendered bonds. */
import { formatEther } from "viem";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import {
  type Action,
  type ActionContext,
  amountUpTo,
  type Outcome,
  pick,
  pickUser,
  USDC,
  userAt,
  WEEK,
} from "./action.ts";
import {
  holdingsAfter,
  type ModelHolding,
  type ModelListing,
  type ModelState,
  replaced,
} from "./model-state.ts";

const secondsLeft = (
  { model, now }: Pick<ActionContext, "model" | "now">,
  { epochId }: Pick<ModelHolding, "epochId">,
) => (model.maturities.get(epochId) ?? 0n) - now;

/** Seconds before their maturity in which bonds are no more traded here: an action takes some blocks. */
const SLACK = 10n;

export const list: Action = (context) => {
  const { protocol, model, draw } = context;
  const held = pick(
    model.holdings.filter((held) => secondsLeft(context, held) > SLACK),
    draw.which,
  );
  if (!held) return undefined;
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

/** An open listing of bonds that have not matured. */
function saleable(context: ActionContext): ModelListing | undefined {
  const listing = openListing(context);
  return listing && secondsLeft(context, listing) > SLACK ? listing : undefined;
}

const withCredit = ({ credited }: ModelState, seller: ModelListing["seller"]) => [
  ...credited.filter((other) => other !== seller),
  seller,
];

export const buy: Action = (context) => {
  const { protocol, model } = context;
  const listing = saleable(context);
  const buyer = pickUser(context);
  if (!listing) return undefined;
  return async () => {
    const receipt = await act.buyListing(protocol, buyer, listing.listingId);
    const { block, changed } = closed(context, listing, buyer.address, receipt);
    return { block, changed: { ...changed, credited: withCredit(model, listing.seller) } };
  };
};

/** The engine buys the listing with USDC that it gets first, and burns its bonds. */
export const buyBack: Action = (context) => {
  const { protocol, owner, model } = context;
  const listing = saleable(context);
  if (!listing) return undefined;
  return async () => {
    const { buybackEngine } = protocol.deployment.contracts;
    await act.mintUsdc(protocol, owner, buybackEngine, 3n * listing.amount * USDC + 3n * USDC);
    const { blockNumber: block } = await act.buyBack(protocol, owner, listing.listingId);
    const listings = replaced(model.listings, listing, { ...listing, open: false });
    return { block, changed: { listings, credited: withCredit(model, listing.seller) } };
  };
};

export const withdraw: Action = ({ protocol, model, draw }) => {
  const seller = pick(model.credited, draw.which);
  if (seller === undefined) return undefined;
  return async () => {
    const { blockNumber: block } = await act.withdrawProceeds(protocol, userAt(seller));
    return { block, changed: { credited: model.credited.filter((other) => other !== seller) } };
  };
};

export const cancelListing: Action = (context) => {
  const listing = openListing(context);
  if (!listing) return undefined;
  const { listingId, seller } = listing;
  return async () =>
    closed(context, listing, seller, await act.cancelListing(context.protocol, userAt(seller), listingId));
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
  return { block, kind: "queue", changed: { holdings, queue: [...model.queue, redemption.week] } };
}

const lesser = (one: bigint, other: bigint): bigint => (one < other ? one : other);

export const redeem: Action = (context) => {
  const { throttle, shareOf, draw } = context;
  const held = pick(matured(context), draw.which);
  if (!held) return undefined;
  const most = lesser(held.balance, lesser(throttle.left, shareOf(held.owner).left));
  if (most < 1n) return undefined;
  return () => redeemed(context, held, 1n + amountUpTo(most - 1n, draw));
};

/** The token's price (18 decimals) at which the week's cap is what was redeemed in it, or hardly more. */
const priceOfFullWeek = ({ reserve, redeemed }: ActionContext["throttle"]) =>
  (redeemed * 10n ** 36n * 10_000n) / 108n / reserve + 1n;

/** Redeems at a price at which the week's cap is used up. */
export const queue: Action = (context) => {
  const { protocol, throttle, shareOf, draw } = context;
  const price = priceOfFullWeek(throttle);
  const shareLeft = (owner: string) => throttle.redeemed / 10n - shareOf(owner).used;
  const held = pick(
    matured(context).filter(({ owner }) => shareLeft(owner) > 0n),
    draw.which,
  );
  // The vault redeems nothing below 0.001 USD.
  if (!held || price < 10n ** 15n) return undefined;
  const most = lesser(held.balance, shareLeft(held.owner));
  return async () => {
    await act.setTokenPrice(protocol, pickUser(context), formatEther(price));
    const outcome = await redeemed(context, held, 1n + amountUpTo(most - 1n, draw));
    await act.setTokenPrice(protocol, pickUser(context), "0.1");
    return outcome;
  };
};

export const processQueue: Action = (context) => {
  const { protocol, model, now } = context;
  const week = now / WEEK;
  if (!model.queue.includes(week)) return undefined;
  return async () => {
    const { paid, receipt } = await act.processQueue(protocol, pickUser(context));
    const queue = [...model.queue];
    for (const _ of paid) queue.splice(queue.indexOf(week), 1);
    return {
      block: receipt.blockNumber,
      changed: { queue },
      // Once a week has used up its cap, it pays nothing more.
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
