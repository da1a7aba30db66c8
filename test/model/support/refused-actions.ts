/** Calls that the protocol refuses: they are mined, and change nothing. */
import type { TransactionReceipt } from "viem";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import { type Action, chosen, chosenPlayer, type Scene, USDC } from "./scene.ts";

/** The receipt of a call that reverts; throws when it does not. */
async function refusal(call: Promise<unknown>): Promise<TransactionReceipt> {
  try {
    await call;
  } catch (error) {
    if (error instanceof act.RevertedError) return error.receipt;
    throw error;
  }
  throw new Error("the protocol took what it should refuse");
}

function attempts(scene: Scene): readonly (() => Promise<unknown>)[] {
  const { protocol, world, now, draw } = scene;
  const player = chosenPlayer(scene);
  const terms = chosen(catalogueTerms, draw.which);
  const closed = chosen(
    world.policies.filter(({ open }) => !open),
    draw.which,
  );
  const sold = chosen(
    world.listings.filter(({ open }) => !open),
    draw.which,
  );
  const foreign = world.listings.find(({ open, seller }) => open && seller !== player.address);
  const young = world.holdings.find(
    ({ owner, epochId }) => owner === player.address && (world.maturities.get(epochId) ?? 0n) > now + 10n,
  );
  return [
    ...(terms ? [() => act.purchase(protocol, player, terms, 100n * USDC - 1n)] : []),
    () => act.executeBurn(protocol, player, "twapBurner", 1n),
    () => act.setGlobalPause(protocol, player, !world.everythingPaused),
    ...(closed
      ? [
          () =>
            act.submitTrigger(protocol, player, closed.terms, closed.policyId, act.oracleProof([1n, 2n, 3n])),
        ]
      : []),
    ...(closed ? [() => act.markExpired(protocol, player, closed.terms, closed.policyId)] : []),
    ...(sold ? [() => act.buyListing(protocol, player, sold.listingId)] : []),
    ...(foreign ? [() => act.cancelListing(protocol, player, foreign.listingId)] : []),
    ...(young ? [() => act.redeem(protocol, player, young.epochId, 1n)] : []),
  ];
}

export const refused: Action = (scene) => {
  const attempt = chosen(attempts(scene), Number(BigInt(scene.draw.size) % 97n));
  if (!attempt) return undefined;
  return async () => ({ block: (await refusal(attempt())).blockNumber, changed: {} });
};
