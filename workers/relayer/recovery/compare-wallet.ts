import type { Address } from "viem";
import { fillUnknown, readNonces } from "../../ledger/unknown-transactions.ts";
import { compareNonce } from "../compare-nonces.ts";
import type { Wallet } from "../wallets.ts";
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
  if (!(await compareNonce(context, address, pending))) return;
  if (await isGone(context, address, pending)) {
    await fillUnknown(sql, lease, pending, emptyTransfer({ address }));
    unknownMissingFrom.delete(address);
  }
  if (await reconcileWallet(context, lease)) unknownMissingFrom.delete(address);
}

/** Whether the node has lacked unknown transactions that it had counted, for `HEADS` heads. */
async function isGone(
  { sql, chainId, minedUnknown, unknownMissingFrom, height }: CompareWalletContext,
  wallet: Address,
  pending: number,
): Promise<boolean> {
  const { unknownBelow } = await readNonces(sql, chainId, wallet);
  const head = height();
  // A node that is behind lacks one that was found in a block.
  const isBehind = [...minedUnknown.values()].some(
    ({ from, nonce, blockNumber }) =>
      from === wallet && nonce >= pending && head !== undefined && blockNumber > head,
  );
  if (unknownBelow === null || pending >= unknownBelow || isBehind || head === undefined) {
    unknownMissingFrom.delete(wallet);
    return false;
  }
  const first = unknownMissingFrom.get(wallet) ?? head;
  unknownMissingFrom.set(wallet, first);
  return head - first >= HEADS;
}
