import type { Address } from "viem";
import type { Deployment } from "../../../lib/deployments.ts";
import { type UnknownNonce, unknownNonces } from "../../../lib/ledger/unknown-nonces.ts";
import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import { costOf } from "../../ledger/call-cost.ts";
import type { Lease } from "../../ledger/leases.ts";
import {
  endUnknown,
  isKeeperWallet,
  type MatchedForm,
  recordUnknown,
  unsentPermit,
  waitingPurchase,
  waitingServiceTransaction,
} from "../../ledger/unknown-transactions.ts";
import type { Chain } from "../chain.ts";
import type { ChainContext } from "../chain-context.ts";
import { purchaseOfCalldata } from "../purchase-call.ts";
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

export type ReconcileContext = Pick<ChainContext, "sql" | "price" | "log"> & {
  readonly chain: Pick<Chain, "nonce" | "transactions" | "block">;
  readonly coverRouter: Address;
  readonly usdc: Address;
  /** The contracts that the keeper calls. */
  readonly keeperTargets: readonly Address[];
  readonly minedUnknown: MinedUnknown;
};

/**
 * Records unknown transactions of a wallet that are in a block: as that of the purchase or service transaction with the same
 * call that has waited longest, or as a filler. Their outcomes then follow from their receipts, as those of all others. One
 * that nothing waits for stays unknown: its client may repeat the call, or the operator knows whose it is.
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
 * What an unknown transaction is for, `intent` null for an empty transfer and for a call of the keeper; undefined when nothing that
 * waits has its call.
 */
async function matchOf(
  { sql, price, coverRouter, usdc, keeperTargets }: ReconcileContext,
  lease: Lease,
  sent: SentTransaction,
): Promise<MatchedForm | undefined> {
  const { to, data, value, gasLimit, signed } = sent;
  if (!to || !signed) return undefined;
  const call = { to, data, value, gasLimit };
  const form = { call, signed, cost: costOf(await price(call), signed.maxFee) };
  if (isEmptyTransfer(lease.address, call)) return { ...form, intent: null };
  const purchase = to === coverRouter && value === 0n ? purchaseOfCalldata(data) : undefined;
  const intent =
    (purchase && (await waitingPurchase(sql, lease.chainId, purchase))) ??
    (to === usdc ? await unsentPermit(sql, lease.chainId, coverRouter, data) : undefined) ??
    (await waitingServiceTransaction(sql, lease, call));
  if (intent !== undefined) return { ...form, intent };
  // What the keeper has sent does no harm when it is sent again: what is still due is asked anew.
  const isKeepers = value === 0n && keeperTargets.includes(to) && (await isKeeperWallet(sql, lease));
  return isKeepers ? { ...form, intent: null } : undefined;
}
