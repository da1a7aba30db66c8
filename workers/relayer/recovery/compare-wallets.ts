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
import {
  fillUnknown,
  heldWallets,
  mayHaveUnknown,
  noteUnknown,
  readNonces,
} from "../../ledger/unknown-transactions.ts";
import type { Chain } from "../chain.ts";
import type { ChainContext } from "../chain-context.ts";
import { initialFees } from "../fees.ts";
import { signAssigned } from "../send-round.ts";
import { canSign, forgetLease, type Wallet } from "../wallets.ts";
import { emptyTransfer, HEADS, type RecoveryContext } from "./context.ts";
import { type ReconcileContext, reconcileWallet } from "./reconcile.ts";

/** More transactions than a ledger can have lost: those of one wallet in a day, more than ten every second. */
const MOST_UNKNOWN = 1_000_000;

export type CompareContext = Pick<ChainContext, "sql" | "chainId" | "log"> & {
  readonly chain: Pick<Chain, "nonce">;
};

/**
 * Notes nonces of a wallet that the chain has and the ledger does not. A nonce is committed before it is used: so the
 * database has lost its last commits, or another program has the wallet's key. One answer proves neither: the node is asked again.
 *
 * @param pending the chain's count, read before this call: the ledger's only rises.
 * @returns the nonce below which the wallet has unknown ones; null when it has none
 * @throws where the node takes its count back, or tells an impossible one
 */
export async function compareNonce(
  { sql, chain, chainId, log }: CompareContext,
  wallet: Address,
  pending: number,
): Promise<number | null> {
  const { next, unknownBelow } = await readNonces(sql, chainId, wallet);
  const known = Math.max(next ?? pending, unknownBelow ?? 0);
  if (pending <= known) return unknownBelow;
  const again = await chain.nonce(wallet, "pending");
  if (again < pending || pending - known > MOST_UNKNOWN)
    throw new Error(
      `the node counted ${pending} transactions of ${wallet}, then ${again}; the ledger has ${known}`,
    );
  const unknown = await noteUnknown(sql, chainId, wallet, pending);
  if (!unknown) return unknownBelow;
  log.error(
    { chainId, wallet, ...unknown },
    "the chain has transactions of a wallet that the ledger does not know: until they are reconciled, this wallet signs no new ones, nor does any other of the chain but a keeper's",
  );
  return unknown.below;
}

/**
 * Compares all wallets of a chain that writers hold.
 * @returns whether a wallet of the chain has unknown transactions, or may have.
 */
export async function compareNonces(context: CompareContext): Promise<boolean> {
  const { sql, chain, chainId } = context;
  const wallets = await heldWallets(sql, chainId);
  await Promise.all(
    wallets.map(async (wallet) => compareNonce(context, wallet, await chain.nonce(wallet, "pending"))),
  );
  return mayHaveUnknown(sql, chainId);
}

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
  if (all.some(({ placed }) => placed)) await noteFenced(sql, chainId);
  const unfenced = all.filter(({ placed }) => !placed);
  const head = context.height();
  const [first] = unfenced;
  if (first && first.server !== context.comparing?.server) {
    const addresses = unfenced.map(({ address }) => address);
    log.warn(
      { chainId, wallets: addresses },
      "commits may have been lost: wallets are fenced before any signs",
    );
    context.comparing = { server: first.server, from: undefined, faults: new Set() };
  }
  const { comparing } = context;
  for (const one of unfenced) {
    if (one.stopped === "global" || head === undefined || !comparing) continue;
    comparing.from ??= head;
    const isLate = head - comparing.from >= HEADS;
    // A fault of one wallet holds up no other.
    await fenceOrCompare(context, one, isLate ? head : undefined).catch((error: unknown) => {
      if (error instanceof LeaseLost) forgetLease(wallets, error.lease);
      const fault = errorText(error);
      if (comparing.faults.has(`${one.address} ${fault}`)) return;
      comparing.faults.add(`${one.address} ${fault}`);
      log.warn({ wallet: one.address, err: fault }, "a wallet is neither fenced nor compared yet");
    });
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
  context.log.warn({ wallet: address, from: fillers[0]?.nonce, count: fillers.length }, "fenced a wallet");
  const calls = fillers.map(({ id, nonce }) => ({
    ...{ id: String(id), transactionId: id, nonce, cancels: false, call, cost },
  }));
  const sent = await signAssigned(context, wallet, fees, calls);
  await Promise.all(sent.map(({ broadcast }) => broadcast));
  return true;
}
