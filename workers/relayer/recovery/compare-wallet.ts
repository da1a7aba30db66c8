import type { Address } from "viem";
import { forgetUnknown, readNonces } from "../../ledger/unknown-transactions.ts";
import type { Block } from "../chain.ts";
import { compareNonce } from "../compare-nonces.ts";
import type { Wallet } from "../wallets.ts";
import type { RecoveryContext } from "./context.ts";
import { countAt, type HeadChain, laterHead } from "./later-head.ts";
import { type MinedUnknown, type ReconcileContext, reconcileWallet } from "./reconcile.ts";

/** Unknown transactions that the chain has lacked again for this time, in ms, are gone; a node that is behind catches up. */
const GONE_AFTER_MS = 30_000;

type CompareWalletContext = ReconcileContext &
  Pick<RecoveryContext, "chainId" | "unknownMissingSince" | "lostNonces"> & {
    readonly chain: HeadChain;
    readonly wallets: Pick<RecoveryContext["wallets"], "given">;
  };

/**
 * Compares a wallet's nonces with the chain's `pending` count, and records transactions that the ledger lacks. What the chain lacks
 * counts only at a head that is later than the moment when it was first missed.
 * @throws LeaseLost
 */
export async function compareWallet(
  context: CompareWalletContext,
  { address, lease }: Pick<Wallet, "address" | "lease">,
  pending: number,
): Promise<void> {
  const { sql, chainId, unknownMissingSince } = context;
  await compareNonce(context, address, pending);
  const { next, unknownBelow } = await readNonces(sql, chainId, address);
  if (next === null) return;
  await compareGiven(context, address, next);
  if (unknownBelow === null) return;
  if (pending >= unknownBelow) unknownMissingSince.delete(address);
  const since = unknownMissingSince.get(address) ?? performance.now();
  if (pending < unknownBelow) unknownMissingSince.set(address, since);
  if (performance.now() - since >= GONE_AFTER_MS) await forgetGone(context, { address, lease }, since);
  if (await reconcileWallet(context, lease)) unknownMissingSince.delete(address);
}

/** Lets nonces be given out again that this writer gave out and the ledger has lost, once a later head shows which of them were sent. */
async function compareGiven(context: CompareWalletContext, wallet: Address, next: number): Promise<void> {
  const { chain, wallets, lostNonces, log } = context;
  const given = wallets.given.get(wallet) ?? 0;
  if (given <= next) {
    lostNonces.delete(wallet);
    return;
  }
  const since = lostNonces.get(wallet);
  if (since === undefined) {
    log.error({ wallet, given, next }, "the database has lost nonces that were given out");
    lostNonces.set(wallet, performance.now());
    return;
  }
  const head = await laterHead(chain, since);
  if (!head) return;
  // What the chain has of them is unknown from here on; the others were never sent, and nobody sends them any more.
  await compareNonce(context, wallet, await countAt(chain, wallet, head.number));
  lostNonces.delete(wallet);
  wallets.given.delete(wallet);
}

/** Forgets unknown transactions that a head later than `since` lacks too. */
async function forgetGone(
  { sql, chain, minedUnknown }: CompareWalletContext,
  { address, lease }: Pick<Wallet, "address" | "lease">,
  since: number,
): Promise<void> {
  const head = await laterHead(chain, since);
  if (!head) return;
  const count = await countAt(chain, address, head.number);
  if (!isMinedAbove(minedUnknown, address, count, head)) await forgetUnknown(sql, lease, count);
}

/** Whether a transaction that the head lacks is in a block after it: the node is behind. */
const isMinedAbove = (minedUnknown: MinedUnknown, wallet: Address, count: number, head: Block): boolean =>
  [...minedUnknown.values()].some(
    ({ from, nonce, blockNumber }) => from === wallet && nonce >= count && blockNumber > head.number,
  );
