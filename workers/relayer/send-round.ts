import { errorText } from "../../lib/log.ts";
import { type Assigned, type Assignment, assignNonces, type WantedCall } from "../ledger/assign-nonces.ts";
import { type Signed, storeForms } from "../ledger/attempts.ts";
import type { ChainContext } from "./chain-context.ts";
import type { Fees } from "./fees.ts";
import { signCall, whatIsSigned } from "./sign-call.ts";
import type { Wallet } from "./wallets.ts";

export type RoundContext = Pick<ChainContext, "sql" | "send" | "log">;

/** A call that was signed, and its broadcast, which has begun. */
export type SentCall = { id: string; signed: Signed; broadcast: Promise<void> };

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
