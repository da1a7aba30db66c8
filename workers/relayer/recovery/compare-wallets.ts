import type { Address } from "viem";
import { errorText } from "../../../lib/log.ts";
import { costOf } from "../../ledger/assign-nonces.ts";
import {
  FENCE,
  noteCompared,
  noteFenced,
  placeFence,
  type UnfencedWallet,
  unfencedWallets,
} from "../../ledger/fillers.ts";
import { LeaseLost } from "../../ledger/leases.ts";
import { fillUnknown } from "../../ledger/unknown-transactions.ts";
import { compareNonce } from "../compare-nonces.ts";
import { initialFees } from "../fees.ts";
import { signAssigned } from "../send-round.ts";
import { canSign, forgetLease, type Wallet } from "../wallets.ts";
import { emptyTransfer, HEADS, type RecoveryContext } from "./context.ts";
import { type ReconcileContext, reconcileWallet } from "./reconcile.ts";

type CompareWalletContext = ReconcileContext &
  Pick<RecoveryContext, "chainId" | "unknownMissingFrom" | "height">;

/**
 * Compares a wallet's nonces with the chain's `pending` count, and records transactions that the ledger lacks. Where the node has counted
 * some and lacks them over many heads, empty transfers take their nonces.
 * @throws LeaseLost
 */
export async function compareWallet(
  context: CompareWalletContext,
  { address, lease }: Pick<Wallet, "address" | "lease">,
  pending: number,
): Promise<void> {
  const { sql, unknownMissingFrom } = context;
  const unknownBelow = await compareNonce(context, address, pending);
  if (unknownBelow === null) return;
  if (isGone(context, address, pending, unknownBelow)) {
    await fillUnknown(sql, lease, pending, emptyTransfer({ address }));
    unknownMissingFrom.delete(address);
  }
  if (await reconcileWallet(context, lease)) unknownMissingFrom.delete(address);
}

/** Whether the node has lacked unknown transactions that it had counted, for `HEADS` heads. */
function isGone(
  { minedUnknown, unknownMissingFrom, height }: CompareWalletContext,
  wallet: Address,
  pending: number,
  unknownBelow: number,
): boolean {
  const head = height();
  // A node that is behind lacks one that was found in a block.
  const isBehind = [...minedUnknown.values()].some(
    ({ from, nonce, blockNumber }) =>
      from === wallet && nonce >= pending && head !== undefined && blockNumber > head,
  );
  if (pending >= unknownBelow || isBehind || head === undefined) {
    unknownMissingFrom.delete(wallet);
    return false;
  }
  const first = unknownMissingFrom.get(wallet) ?? head;
  unknownMissingFrom.set(wallet, first);
  return head - first >= HEADS;
}

/**
 * Fences this writer's wallets after a start of the database's server. Wallets that nobody has fenced after many heads, because no writer
 * holds them, or theirs cannot pay or sign, are compared by their counts, so that they hold up no others. While everything is
 * stopped nothing is compared: it would be too early.
 */
export async function compareUncompared(context: RecoveryContext): Promise<void> {
  const { sql, chainId, wallets, log } = context;
  const all = await unfencedWallets(sql, chainId);
  if (all.length > 0) await noteFenced(sql, chainId);
  const unfenced = all.filter(({ placed }) => !placed);
  const head = context.height();
  const [first] = unfenced;
  if (first && first.server !== context.comparing?.server) {
    const addresses = unfenced.map(({ address }) => address);
    log.warn(
      { chainId, wallets: addresses },
      "commits may have been lost: wallets are fenced before any signs",
    );
    context.comparing = { server: first.server, idleFrom: new Map(), faults: new Map() };
  }
  const { comparing } = context;
  if (head === undefined || !comparing) return;
  const idle = unfenced.filter(({ stopped }) => stopped !== "global");
  // A wallet that left the list begins anew.
  comparing.idleFrom = new Map(idle.map(({ address }) => [address, comparing.idleFrom.get(address) ?? head]));
  for (const one of idle) {
    const isLate = head - (comparing.idleFrom.get(one.address) ?? head) >= HEADS;
    // A fault of one wallet holds up no other.
    try {
      await fenceOrCompare(context, one, isLate ? head : undefined);
      comparing.faults.delete(one.address);
    } catch (error) {
      if (error instanceof LeaseLost) forgetLease(wallets, error.lease);
      const fault = errorText(error);
      if (comparing.faults.get(one.address) === fault) continue;
      comparing.faults.set(one.address, fault);
      log.warn({ wallet: one.address, err: fault }, "a wallet is neither fenced nor compared yet");
    }
  }
}

/** @param lateHead the height from which on a wallet without a fence is compared by its count. */
async function fenceOrCompare(
  context: RecoveryContext,
  wallet: UnfencedWallet,
  lateHead: bigint | undefined,
): Promise<void> {
  const { sql, chain, chainId, wallets } = context;
  const { address } = wallet;
  const own = wallets.leased.get(address);
  if (own && wallet.stopped === null && (await fence(context, own))) return;
  if (wallet.compared || lateHead === undefined) return;
  const counts = await Promise.all([chain.nonce(address, lateHead), chain.nonce(address, "pending")]);
  await compareNonce(context, address, Math.max(...counts));
  await noteCompared(sql, chainId, wallet);
}

/** Gives a wallet's next nonces to empty transfers, and sends them. @returns false where it cannot pay for them, or sign */
async function fence(context: RecoveryContext, wallet: Wallet): Promise<boolean> {
  const { sql, chain, market, price, maxCallFee } = context;
  const { address, lease } = wallet;
  const fees = initialFees(await market.now(), maxCallFee);
  if (!canSign(wallet) || !fees) return false;
  const call = await price(emptyTransfer(wallet));
  const cost = costOf(call, fees.maxFee);
  if ((await chain.balance(address)) < cost * BigInt(FENCE)) return false;
  await compareNonce(context, address, await chain.nonce(address, "pending"));
  const fillers = await placeFence(sql, lease, call);
  if (fillers.length === 0) return true;
  context.log.warn({ wallet: address, from: fillers[0]?.nonce, count: fillers.length }, "fenced a wallet");
  const calls = fillers.map(({ id, nonce }) => ({
    ...{ id: String(id), transactionId: id, nonce, cancels: false, call, cost },
  }));
  const sent = await signAssigned(context, wallet, fees, calls);
  await Promise.all(sent.map(({ broadcast }) => broadcast));
  return true;
}
