import type { Hex } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { errorText } from "../../lib/log.ts";
import { type Assigned, type Assignment, assignNonces, type WantedCall } from "../ledger/assign-nonces.ts";
import { noteSent, type Sent, type Signed, storeForms, withheldHashes } from "../ledger/transactions.ts";
import type { ChainContext } from "./chain-context.ts";
import type { Fees } from "./fees.ts";
import { signCall, whatIsSigned } from "./signer.ts";
import type { Wallet } from "./wallets.ts";

/**
 * A node's answer to a signed transaction. `accepted`: the node has it. `refused`: the node does not take it now.
 * `unknown`: no answer, or an answer that may mean that it is in a block already. Only `accepted` changes the ledger.
 */
type BroadcastResult = { kind: "accepted" } | { kind: "refused" | "unknown"; reason: string };

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

/** Most hashes of one statement. */
const ROUND = 100;

type SenderOptions = Pick<ChainContext, "sql" | "chain" | "meter" | "log">;

/**
 * Broadcasts stored transactions, unless the operator has stopped them, and notes those that no node took, and repeated ones. Before it
 * repeats one it asks the ledger whether that is stopped or lost, and rejects, with nothing sent, when that does not answer. Sending the
 * same bytes twice is harmless: after every doubt they are sent again, and no answer of a node fails a purchase.
 */
export function createSender({ sql, chain, meter, log }: SenderOptions) {
  const readWithheld = createBatcher((hashes: Hex[]) => withheldHashes(sql, hashes), ROUND);
  const note = createBatcher((sent: Sent[]) => noteSent(sql, sent), ROUND);

  return async function send(
    { hash, bytes }: Pick<Signed, "hash" | "bytes">,
    form: "again" | { stopped: boolean },
  ): Promise<void> {
    const again = form === "again";
    if (again ? (await readWithheld(hash)).has(hash) : form.stopped) {
      log.warn({ hash }, "not sent: the operator has stopped it, or the database has lost it");
      return;
    }
    const result = await chain
      .send(bytes)
      .then((): BroadcastResult => ({ kind: "accepted" }), broadcastResultOf);
    meter.answered(hash, result.kind);
    if (result.kind !== "accepted") {
      log.warn({ hash, answer: result.kind, reason: result.reason }, "a node did not accept a transaction");
    }
    const taken = result.kind === "accepted";
    if (again || !taken) await note({ hash, taken, again });
  };
}

/** `form`: of bytes that were just stored, whether they are stopped, as `storeForms` says; "again" for others: the ledger is asked. */
export type Send = ReturnType<typeof createSender>;

type RoundContext = Pick<ChainContext, "sql" | "send" | "log">;

/** A call that was signed, and its broadcast, which has begun. */
type SentCall = { id: string; signed: Signed; broadcast: Promise<void> };

/**
 * Sends a round of calls from a wallet: gives the chosen ones nonces, signs them, stores their bytes and
 * begins to broadcast them in the order of the nonces. The next round may begin meanwhile.
 *
 * A fault after the nonces are given leaves the calls to the recovery: it signs and sends them. Rejects before that when
 * the database is down.
 * @throws LeaseLost when no nonce was given
 * @throws NoncesWithheld when none may be given
 */
export async function sendRound<Candidate, Choice extends { send: readonly WantedCall[] }>(
  context: RoundContext,
  wallet: Wallet,
  fees: Fees,
  assignment: Omit<Assignment<Candidate, Choice>, "lease">,
): Promise<{ choice: Choice; sent: SentCall[] }> {
  const { choice, assigned } = await assignNonces(context.sql, { ...assignment, lease: wallet.lease });
  if (assigned.length === 0) return { choice, sent: [] };
  let sent: SentCall[] = [];
  let fault: unknown;
  try {
    sent = await signAssigned(context, wallet, fees, assigned);
  } catch (error) {
    fault = error;
  }
  const unsigned = assigned.length - sent.length;
  if (unsigned > 0) {
    context.log.warn(
      { wallet: wallet.address, calls: unsigned, ...(fault !== undefined && { err: errorText(fault) }) },
      "calls have nonces and no stored bytes yet: the recovery signs them",
    );
  }
  return { choice, sent };
}

/**
 * Signs calls that have nonces, or the empty transfers that cancel them, stores the bytes, and begins to broadcast them. No
 * transaction of the database is open while a signer is asked.
 * @returns what was signed and stored: nothing from the first nonce on that a signer did not sign. It could not be mined, and a
 *   purchase must not be sent without the permit before it.
 */
export async function signAssigned(
  { sql, send }: Pick<RoundContext, "sql" | "send">,
  wallet: Wallet,
  fees: Fees,
  assigned: readonly (Omit<Assigned, "kind"> & { cancels?: boolean })[],
): Promise<SentCall[]> {
  const signed = await whatIsSigned(
    assigned.map(async (one) => ({ ...one, signed: await signCall(wallet, one.nonce, one.call, fees) })),
  );
  const isSigned = new Set(signed.map(({ nonce }) => nonce));
  const missing = Math.min(...assigned.flatMap(({ nonce }) => (isSigned.has(nonce) ? [] : [nonce])));
  const inTurn = signed.filter(({ nonce }) => nonce < missing);
  if (inTurn.length === 0) return [];
  const forms = inTurn.map((one) => ({ ...one, cancels: one.cancels ?? false }));
  const stored = await storeForms(sql, wallet.lease, forms);
  return inTurn.flatMap(({ id, signed }) => {
    const form = stored.get(signed.hash);
    return form ? [{ id, signed, broadcast: send(signed, form) }] : [];
  });
}
