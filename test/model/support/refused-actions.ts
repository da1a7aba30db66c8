/** Calls that revert: they are mined and change nothing. */
import type { TransactionReceipt } from "viem";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import { type Action, type ActionContext, pick, pickUser, USDC } from "./action.ts";

/** The receipt of a call that reverts. @throws when it succeeds. */
async function revertReceipt(call: Promise<unknown>): Promise<TransactionReceipt> {
  try {
    await call;
  } catch (error) {
    if (error instanceof act.RevertedError) return error.receipt;
    throw error;
  }
  throw new Error("the call should have reverted");
}

function attempts(context: ActionContext): readonly (() => Promise<unknown>)[] {
  const { protocol, relayer, model, now, draw } = context;
  const user = pickUser(context);
  const terms = pick(catalogueTerms, draw.which);
  const closed = pick(
    model.policies.filter(({ open }) => !open),
    draw.which,
  );
  const sold = pick(
    model.listings.filter(({ open }) => !open),
    draw.which,
  );
  const foreign = model.listings.find(({ open, seller }) => open && seller !== user.address);
  const young = model.holdings.find(
    ({ owner, epochId }) => owner === user.address && (model.maturities.get(epochId) ?? 0n) > now + 10n,
  );
  return [
    ...(terms ? [() => act.purchase(protocol, user, terms, 100n * USDC - 1n)] : []),
    () => act.buyBack(protocol, user, 0n),
    () => act.setGlobalPause(protocol, user, !model.globallyPaused),
    ...(closed ? [() => act.submitTrigger(protocol, relayer, closed.terms, closed.policyId)] : []),
    ...(closed ? [() => act.markExpired(protocol, user, closed.terms, closed.policyId)] : []),
    ...(sold ? [() => act.buyListing(protocol, user, sold.listingId)] : []),
    ...(foreign ? [() => act.cancelListing(protocol, user, foreign.listingId)] : []),
    ...(young ? [() => act.redeem(protocol, user, young.epochId, 1n)] : []),
  ];
}

export const refused: Action = (context) => {
  const attempt = pick(attempts(context), Number(BigInt(context.draw.size) % 97n));
  if (!attempt) return undefined;
  return async () => ({ block: (await revertReceipt(attempt())).blockNumber, changed: {} });
};
