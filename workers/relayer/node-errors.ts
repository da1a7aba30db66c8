import { errorText } from "../../lib/log.ts";

/**
 * A node's answer to a signed transaction. `accepted`: the node has it. `refused`: the node does not take it now.
 * `unknown`: no answer, or an answer that may mean that it is in a block already. Only `accepted` changes the ledger.
 */
export type BroadcastResult = { kind: "accepted" } | { kind: "refused" | "unknown"; reason: string };

const KNOWN = /already known|already imported|known transaction|already in (the )?mempool|ALREADY_EXISTS/i;
const REFUSED =
  /underpriced|insufficient funds|intrinsic gas|exceeds block gas limit|fee cap|less than block base fee/i;

/** The messages of an error and all its causes: nodes put theirs at different depths. */
function messagesOf(error: unknown): string {
  const parts: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    parts.push(cause.message, "details" in cause ? String(cause.details) : "");
  }
  return parts.join(" ");
}

/** The node's own message where there is one: viem's short message only names the kind of error. */
function reasonOf(error: unknown): string {
  const details = error instanceof Error && "details" in error ? String(error.details) : "";
  return details === "" ? errorText(error) : details;
}

/** Classifies the error of an `eth_sendRawTransaction`. */
export function broadcastResultOf(error: unknown): BroadcastResult {
  const text = messagesOf(error);
  if (KNOWN.test(text)) return { kind: "accepted" };
  return { kind: REFUSED.test(text) ? "refused" : "unknown", reason: reasonOf(error) };
}
