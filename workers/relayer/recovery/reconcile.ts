import type { Address, Hex } from "viem";
import { permitOfCalldata } from "../../../lib/chain/permit.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { type UnknownNonce, unknownNonces } from "../../../lib/ledger/unknown-nonces.ts";
import { errorText } from "../../../lib/log.ts";
import { lower } from "../../../lib/lower.ts";
import { type Call, costOf } from "../../ledger/assign-nonces.ts";
import { markBehind, purchaseIdentity } from "../../ledger/intent-marks.ts";
import type { Lease } from "../../ledger/leases.ts";
import {
  endUnknown,
  type MatchedForm,
  recordUnknown,
  roleOf,
  unsentPermits,
  type WaitingIntent,
  waitingCalls,
  waitingPurchases,
} from "../../ledger/unknown-transactions.ts";
import type { Chain, SentTransaction } from "../chain.ts";
import type { ChainContext } from "../chain-context.ts";
import { purchaseCalldata, purchaseOfCalldata } from "../purchase-calls.ts";
import { isEmptyTransfer } from "./context.ts";
import { findNonceHolder, type NonceHolder } from "./used-nonces.ts";

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
 * Records unknown transactions of a wallet that are in a block. A mark names the purchase, permit or service transaction that one was
 * sent for; a harmless one is recorded as a filler. Their outcomes then follow from their receipts, as those of all others. A
 * transaction that matches no intent stays unknown: its client may repeat the call with its key, or the operator may know its sender.
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
        { wallet: address, nonce, hash: match.signed.hash, for: match.what },
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

/** An intent that waits, null for a call that does no harm, whoever wanted it: its like can be sent again. `what`: it in words. */
type Known = { intent: string | null; what: string };

const wanted = (id: string): Known => ({ intent: id, what: id });
const harmless = (what: string): Known => ({ intent: null, what });

/** Finds what an unknown transaction was sent for; undefined while no intent that waits has its mark. */
async function matchOf(
  context: ReconcileContext,
  lease: Lease,
  { to, data, value, gasLimit, signed }: SentTransaction,
): Promise<(MatchedForm & Known) | undefined> {
  if (!to || !signed) return undefined;
  const call = { to, data, value, gasLimit };
  const cost = costOf(await context.price(call), signed.maxFee);
  const known = await knownCall(context, lease, call);
  return known && { call, signed, cost, ...known };
}

async function knownCall(context: ReconcileContext, lease: Lease, call: Call): Promise<Known | undefined> {
  const { sql, coverRouter, usdc, keeperTargets } = context;
  const { chainId, address } = lease;
  const { to, data, value } = call;
  if (isEmptyTransfer(address, call)) return harmless("an empty transfer");
  const request = to === coverRouter && value === 0n ? purchaseOfCalldata(data) : undefined;
  if (request) {
    const waiting = await waitingPurchases(sql, chainId, request);
    const id = await marked(context, lease, "purchase", waiting, behind(purchaseCalldata(request), data));
    if (id !== undefined) return wanted(id);
    const isSandboxes = (await roleOf(sql, chainId, request.buyer)) === "sandbox";
    return isSandboxes ? harmless("a purchase of the sandbox") : undefined;
  }
  const permit = to === usdc && value === 0n ? permitOfCalldata(coverRouter, data) : undefined;
  if (permit) {
    const waiting = await unsentPermits(sql, chainId, permit.owner);
    const id = await marked(context, lease, "permit", waiting, behind(permit.call, data));
    return id === undefined ? harmless(`a permit of ${permit.owner}`) : wanted(id);
  }
  const id = await waitingCall(context, lease, call);
  if (id !== undefined) return wanted(id);
  const isKeepers =
    value === 0n && keeperTargets.includes(to) && (await roleOf(sql, chainId, address)) === "keeper";
  return isKeepers ? harmless("a call of the keeper") : undefined;
}

/** The service transaction that waits for this call; undefined where none does. */
async function waitingCall(
  { sql, markOf }: ReconcileContext,
  lease: Lease,
  call: Call,
): Promise<string | undefined> {
  const waiting = await waitingCalls(sql, lease, call);
  for (const { id, data } of waiting) {
    const mark = data === "0x" ? undefined : markBehind(data, call.data);
    if (mark && mark === (await markOf(lease, { kind: "service_transaction", id }))) return id;
  }
  // Grants have no mark, and test money is asked for again under another id: the one that has waited longest.
  return waiting.find(({ data }) => (data === "0x" ? call.data === "0x" : call.data.startsWith(data)))?.id;
}

/** The first of the waiting ones that has this mark. Versions before the marks sent without one: then the first of all. */
async function marked(
  { markOf }: ReconcileContext,
  lease: Lease,
  kind: "purchase" | "permit",
  waiting: readonly WaitingIntent[],
  mark: Hex | "none" | undefined,
): Promise<string | undefined> {
  if (mark === "none") return waiting[0]?.id;
  for (const { id, purchaseId, client, key } of waiting) {
    const identity = purchaseIdentity({ id: purchaseId, client, key });
    if ((await markOf(lease, { kind, ...identity })) === mark) return id;
  }
  return undefined;
}

/** The mark behind a call; "none" where nothing is there. */
const behind = (call: Hex, data: Hex): Hex | "none" | undefined =>
  call === data ? "none" : markBehind(call, data);
