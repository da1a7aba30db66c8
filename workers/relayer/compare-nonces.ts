import type { Address } from "viem";
import { hasUnknown, heldWallets, noteUnknown } from "../ledger/unknown-transactions.ts";
import type { ChainContext } from "./chain-context.ts";

export type CompareContext = Pick<ChainContext, "sql" | "chainId" | "log">;

/**
 * Notes nonces of a wallet that the chain has and the ledger does not. A nonce is committed before it is used: so the
 * database has lost its last commits, or another program has the wallet's key.
 *
 * @param pending the chain's count, read before this call: the ledger's only rises.
 */
export async function compareNonce(
  { sql, chainId, log }: CompareContext,
  wallet: Address,
  pending: number,
): Promise<void> {
  const unknown = await noteUnknown(sql, chainId, wallet, pending);
  if (!unknown) return;
  log.error(
    { chainId, wallet, ...unknown },
    "the chain has transactions of a wallet that the ledger does not know: until they are reconciled, this wallet signs no new ones, nor does any other of the chain but a keeper's",
  );
}

/**
 * Compares all wallets of a chain that writers hold.
 * @returns whether one has unknown transactions.
 */
export async function compareNonces(context: CompareContext & Pick<ChainContext, "chain">): Promise<boolean> {
  const { sql, chain, chainId } = context;
  const wallets = await heldWallets(sql, chainId);
  await Promise.all(
    wallets.map(async (wallet) => compareNonce(context, wallet, await chain.nonce(wallet, "pending"))),
  );
  return hasUnknown(sql, chainId);
}
