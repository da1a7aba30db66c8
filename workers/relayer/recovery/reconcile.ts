import type { Address, Hex } from "viem";
import { permitOfCalldata } from "../../../lib/chain/permit.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { type UnknownNonce, unknownNonces } from "../../../lib/ledger/unknown-nonces.ts";
import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import type { Call } from "../../ledger/assign-nonces.ts";
import { costOf } from "../../ledger/call-cost.ts";
import { markBehind } from "../../ledger/intent-marks.ts";
import type { Lease } from "../../ledger/leases.ts";
import {
  endUnknown,
  isKeeperWallet,
  type MatchedForm,
  recordUnknown,
  unsentPermits,
  type WaitingIntent,
  waitingCalls,
  waitingPurchases,
} from "../../ledger/unknown-transactions.ts";
import type { Chain } from "../chain.ts";
import type { ChainContext } from "../chain-context.ts";
import { purchaseCalldata, purchaseOfCalldata } from "../purchase-call.ts";
import type { SentTransaction } from "../sent-transaction.ts";
import { isEmptyTransfer } from "./context.ts";
import { findNonceHolder, type NonceHolder } from "./nonce-holder.ts";

/** Most unknown transactions that one round searches for: each search reads old blocks. */
const SEARCHES = 20;

/** The contracts that the keeper calls, in lower case. */
export const keeperTargets = ({
  contracts: { policyManager, bondVault, shieldKeeper },
}: Pick<Deployment, "contracts">): Address[] =>
  [policyManager, bondVault, ...(shieldKeeper ? [shieldKeeper] : [])].map(lower);

/** Unknown transactions in blocks, by wallet and nonce. */
export type MinedUnknown = Map<string, NonceHolder>;
export const nonceKey = (wallet: Address, nonce: number): string => `${wallet}:${nonce}`;

export type ReconcileContext = Pick<ChainContext, "sql" | "price" | "markOf" | "log"> & {
  readonly chain: Pick<Chain, "nonce" | "transactions" | "block">;
  readonly coverRouter: Address;
  readonly usdc: Address;
  /** The contracts that the keeper calls. */
  readonly keeperTargets: readonly Address[];
  readonly minedUnknown: MinedUnknown;
};

/**
 * Records unknown transactions of a wallet that are in a block: as that of the purchase, permit or service transaction whose mark it has,
 * or as a filler. Their outcomes then follow from their receipts, as those of all others. One that nothing waits for stays unknown: its
 * client may repeat the call with its key, or the operator knows whose it is.
 *
 * @returns whether none is left, so that nonces are given out again.
 * @throws LeaseLost
 */
export async function reconcileWallet(context: ReconcileContext, lease: Lease): Promise<boolean> {
  const { sql, minedUnknown, log } = context;
  const { address } = lease;
  const unknown = await findUnknown(context, lease);
  for (const { nonce } of unknown) {
    const sent = minedUnknown.get(nonceKey(address, nonce));
    const match = sent && (await matchOf(context, lease, sent));
    if (match && (await recordUnknown(sql, lease, { nonce, ...match })))
      log.warn(
        { wallet: address, nonce, hash: match.signed.hash, for: match.intent },
        "recorded an unknown transaction",
      );
  }
  if (!(await endUnknown(sql, lease))) return false;
  log.warn({ wallet: address }, "all transactions of the wallet on the chain are known again");
  for (const { nonce } of unknown) minedUnknown.delete(nonceKey(address, nonce));
  return true;
}

/**
 * Searches blocks for the transactions that used a wallet's unknown nonces, lowest first.
 * @returns the unknown nonces.
 */
export async function findUnknown(
  { sql, chain, minedUnknown, log }: Pick<ReconcileContext, "sql" | "chain" | "minedUnknown" | "log">,
  { chainId, address }: Pick<Lease, "chainId" | "address">,
): Promise<UnknownNonce[]> {
  const unknown = (await unknownNonces(sql, chainId)).filter(({ wallet }) => wallet === address);
  const sought = unknown
    .filter(({ nonce }) => !minedUnknown.has(nonceKey(address, nonce)))
    .slice(0, SEARCHES);
  const head = sought.length > 0 ? await chain.block("latest") : undefined;
  for (const { nonce } of head ? sought : []) {
    const holder = await findNonceHolder(chain, address, nonce, head?.number ?? 0n).catch(
      (error: unknown) => {
        log.warn(
          { wallet: address, nonce, err: errorText(error) },
          "could not find the transaction that used a nonce",
        );
        return undefined;
      },
    );
    // Where one is in no block yet, those after it are not either.
    if (!holder) break;
    minedUnknown.set(nonceKey(address, nonce), holder);
  }
  return unknown;
}

/**
 * Finds the intent of an unknown transaction: that with its mark, or null where it does no harm whoever wanted it; undefined while
 * nothing that waits has its mark.
 */
async function matchOf(
  context: ReconcileContext,
  lease: Lease,
  sent: SentTransaction,
): Promise<MatchedForm | undefined> {
  const { sql, price, coverRouter, usdc, keeperTargets } = context;
  const { to, data, value, gasLimit, signed } = sent;
  if (!to || !signed) return undefined;
  const call = { to, data, value, gasLimit };
  const form = { call, signed, cost: costOf(await price(call), signed.maxFee) };
  if (isEmptyTransfer(lease.address, call)) return { ...form, intent: null };
  const intent = await markedIntent(context, lease, call);
  if (intent !== undefined) return { ...form, intent };
  // A permit is its owner's own wish, and what is still due is asked anew of the keeper's calls.
  const isKeepers = value === 0n && keeperTargets.includes(to) && (await isKeeperWallet(sql, lease));
  const isPermit = to === usdc && permitOfCalldata(coverRouter, data) !== undefined;
  return isPermit || isKeepers ? { ...form, intent: null } : undefined;
}

/** The purchase, permit or service transaction that waits with the mark of this call; undefined where none does. */
async function markedIntent(
  context: ReconcileContext,
  lease: Lease,
  call: Pick<Call, "to" | "data" | "value">,
): Promise<string | undefined> {
  const { sql, markOf, coverRouter, usdc } = context;
  const { to, data, value } = call;
  const request = to === coverRouter && value === 0n ? purchaseOfCalldata(data) : undefined;
  if (request) {
    const waiting = await waitingPurchases(sql, lease.chainId, request);
    return firstMarked(context, lease, "purchase", waiting, markBehind(purchaseCalldata(request), data));
  }
  const permit = to === usdc ? permitOfCalldata(coverRouter, data) : undefined;
  if (permit) {
    const waiting = await unsentPermits(sql, lease.chainId, permit.owner);
    return firstMarked(context, lease, "permit", waiting, markBehind(permit.call, data));
  }
  for (const { id, data: plain } of await waitingCalls(sql, lease, call)) {
    // A grant of ether has no mark: the one that has waited longest for the same receiver and amount.
    if (plain === "0x" && data === "0x") return id;
    const mark = plain === "0x" ? undefined : markBehind(plain, data);
    if (mark && mark === (await markOf(lease, { kind: "service_transaction", id }))) return id;
  }
  return undefined;
}

/** More attempts of one key than a ledger can have lost. */
const LOST_ATTEMPTS = 8;

/** The first of the waiting ones that has this mark. A ledger that has lost attempts of a key counts fewer of them than the chain. */
async function firstMarked(
  { markOf }: ReconcileContext,
  sender: Lease,
  kind: "purchase" | "permit",
  waiting: readonly WaitingIntent[],
  mark: Hex | undefined,
): Promise<string | undefined> {
  for (const { id, intent } of waiting) {
    const intents =
      "id" in intent
        ? [intent]
        : Array.from({ length: LOST_ATTEMPTS }, (_, n) => ({ ...intent, attempt: intent.attempt + n }));
    for (const one of intents) if ((await markOf(sender, { kind, ...one })) === mark) return id;
  }
  return undefined;
}
