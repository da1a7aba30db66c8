import type { Revert } from "../../lib/chain/reverts.ts";
import type { Failure } from "../relayer/failures.ts";

/** Why errands fail of which nothing was signed. */

export const wouldRevert = (purpose: string, revert: Revert): Failure => ({
  code: "onchain_revert",
  message: `${purpose === "faucet_ether" ? "The wallet takes no ether" : "The transfer would revert"}: ${revert.text}. Nothing was sent.`,
});

export const tooMuchGas = (limit: bigint): Failure => ({
  code: "onchain_revert",
  message: `The transfer would need more than ${limit} gas. Nothing was sent.`,
});

export const chainSilent: Failure = {
  code: "chain_not_found",
  message: "The testnet did not answer in time. Nothing was sent.",
};

export const outOfEther: Failure = {
  code: "out_of_eth",
  message: "The wallet that pays lacked the ether. Nothing was sent.",
};

/** In words that are told before anything is promised too. */
export const gasSpent = "The gas that may be spent in a day (UTC) is spent.";
export const gasTooDear = "Gas costs more at present than the operator lets it cost.";

/** The failure of a claim that cannot be signed for one of these. */
export const unpaidGas = (fault: string): Failure => ({
  code: "relayer_unavailable",
  message: `${fault} Nothing was sent.`,
});

export const neverSigned: Failure = {
  code: "claim_expired",
  message: "It was not signed in time. Nothing was sent.",
};
