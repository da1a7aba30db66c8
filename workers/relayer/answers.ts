import { errorText } from "../../lib/log.ts";

/**
 * What a node said to signed bytes. `accepted`: it has them. `refused`: it says that it does not take them now.
 * `unknown`: no answer, or one that may mean that they are in a block already. Only `accepted` changes the ledger.
 */
export type NodeAnswer = { kind: "accepted" } | { kind: "refused" | "unknown"; reason: string };
/** `stopped`: the node was not asked, for the operator has stopped it. */
export type SendAnswer = NodeAnswer | { kind: "stopped" };

const HAS_IT = /already known|already imported|known transaction|already in (the )?mempool|ALREADY_EXISTS/i;
const REFUSED =
  /underpriced|insufficient funds|intrinsic gas|exceeds block gas limit|fee cap|less than block base fee/i;

/** Everything that an error and its causes say: nodes put their words at different depths. */
function words(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    parts.push(cause.message, "details" in cause ? String(cause.details) : "");
  }
  return parts.join(" ");
}

/** The node's own words where there are some: viem's short message only names the class of the fault. */
function reasonOf(error: unknown): string {
  const details = error instanceof Error && "details" in error ? String(error.details) : "";
  return details === "" ? errorText(error) : details;
}

const OUT_OF_GAS = /out ?of ?gas|gas required exceeds/i;

/** Whether a node could not estimate a call's gas because what it might use is too little. */
export const needsMoreGas = (error: unknown): boolean => OUT_OF_GAS.test(words(error));

/** Reads the error of an `eth_sendRawTransaction`. */
export function sendAnswer(error: unknown): NodeAnswer {
  const text = words(error);
  if (HAS_IT.test(text)) return { kind: "accepted" };
  return { kind: REFUSED.test(text) ? "refused" : "unknown", reason: reasonOf(error) };
}
