import type { Revert } from "../../lib/chain/reverts.ts";
import type { Failure } from "../relayer/purchase-failures.ts";

/** Why service transactions fail before anything of them is signed. */

/** What would revert, by the purpose of a service transaction. */
function subjectOf(purpose: string): string {
  if (purpose.startsWith("keeper_")) return "The call would revert";
  return purpose === "faucet_ether" ? "The wallet takes no ether" : "The transfer would revert";
}

export const wouldRevert = (purpose: string, revert: Revert): Failure => ({
  code: "onchain_revert",
  message: `${subjectOf(purpose)}: ${revert.text}. Nothing was sent.`,
});

export const tooMuchGas = (limit: bigint): Failure => ({
  code: "onchain_revert",
  message: `The call would need more than ${limit} gas. Nothing was sent.`,
});

export const chainNotAnswering: Failure = {
  code: "chain_not_found",
  message: "The testnet did not answer in time. Nothing was sent.",
};

export const outOfEther: Failure = {
  code: "out_of_eth",
  message: "The wallet that pays lacked the ether. Nothing was sent.",
};

/** Faults that also refuse a claim before it is accepted, in the same words. */
export const gasBudgetSpent = "The gas that may be spent in a day (UTC) is spent.";
export const gasTooExpensive = "Gas costs more at present than the operator lets it cost.";

/** The failure of a claim that cannot be signed because of one of these faults. */
export const gasUnavailable = (fault: string): Failure => ({
  code: "relayer_unavailable",
  message: `${fault} Nothing was sent.`,
});

export const notSignedInTime: Failure = {
  code: "claim_expired",
  message: "It was not signed in time. Nothing was sent.",
};
