import { forgetUnknown, readNonces } from "../../ledger/unknown-transactions.ts";
import { compareNonce } from "../compare-nonces.ts";
import type { Wallet } from "../wallets.ts";
import type { RecoveryContext } from "./context.ts";
import { type ReconcileContext, reconcileWallet } from "./reconcile.ts";

/** Unknown transactions that the chain has lacked again for this time, in ms, are gone; a node that is behind catches up. */
const GONE_AFTER_MS = 30_000;

type CompareWalletContext = ReconcileContext &
  Pick<RecoveryContext, "chainId" | "goneSince" | "lostNonces"> & {
    readonly wallets: Pick<RecoveryContext["wallets"], "given">;
  };

/**
 * Compares a wallet's nonces with the chain's `pending` count, and records transactions that the ledger lacks.
 * @throws LeaseLost
 */
export async function compareWallet(
  context: CompareWalletContext,
  { address, lease }: Pick<Wallet, "address" | "lease">,
  pending: number,
): Promise<void> {
  const { sql, chainId, wallets, goneSince, lostNonces, log } = context;
  const given = wallets.given.get(address) ?? 0;
  await compareNonce(context, address, pending);
  const { next, unknownBelow } = await readNonces(sql, chainId, address);
  if (given <= next) {
    lostNonces.delete(address);
  } else if (!lostNonces.has(address)) {
    // This round's count may be older than the loss, and lack a transaction that the chain has.
    log.error({ wallet: address, given, next }, "the database has lost nonces that were given out");
    lostNonces.add(address);
  } else {
    // What the chain has of them is unknown now; the others were never sent, and nobody sends them any more.
    lostNonces.delete(address);
    wallets.given.delete(address);
  }
  if (unknownBelow === null) return;
  if (pending >= unknownBelow) goneSince.delete(address);
  const since = goneSince.get(address) ?? performance.now();
  if (pending < unknownBelow) goneSince.set(address, since);
  if (performance.now() - since >= GONE_AFTER_MS) await forgetUnknown(sql, lease, pending);
  if (await reconcileWallet(context, lease)) goneSince.delete(address);
}
