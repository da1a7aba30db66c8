import type { Revert } from "../../lib/chain/reverts.ts";
import type { ErrorCode } from "../../lib/errors.ts";

/** Why a purchase failed: a code of the API and words that hold the contract's own reason. */
export type Failure = { code: ErrorCode; message: string };

/** The reasons that have a code of their own; every other one is `onchain_revert`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  ContractPaused: "contract_paused",
  SEQUENCER_DOWN: "sequencer_down",
  ORACLE_STALE: "oracle_stale",
  ProductInactive: "product_inactive",
  ShieldPaused: "shield_paused",
  "Exceeds capacity": "coverage_above_maximum",
  NotAuthorizedRelayer: "not_authorized_relayer",
};

/** The failure of a purchase whose simulation reverted; nothing was signed and nothing spent. */
export function simulatedFailure(revert: Revert): Failure {
  const code = Object.hasOwn(codes, revert.name) ? codes[revert.name] : undefined;
  return { code: code ?? "onchain_revert", message: `The purchase would revert: ${revert.text}` };
}

/** The failure of a purchase that reverted in a block, which is always a 502; the reason may not be known. */
export function minedFailure(blockNumber: bigint, revert: Revert | undefined): Failure {
  const reason = revert ? revert.text : "the reason could not be read";
  return {
    code: "onchain_revert",
    message: `The transaction reverted in block ${blockNumber}: ${reason}`,
  };
}

/** The failure of a purchase that was never signed in time, because the chain did not answer. */
export const chainSilent: Failure = {
  code: "chain_not_found",
  message: "The chain did not answer in time. Nothing was signed and nothing was spent.",
};

/** The failure of a purchase that was never signed in time for another reason. */
export const neverSigned: Failure = {
  code: "purchase_expired",
  message: "The purchase was not signed in time. Nothing was spent.",
};
