import type { Address } from "viem";
import { heldWallets, mayHaveUnknown, noteUnknown, readNonces } from "../ledger/unknown-transactions.ts";
import type { Chain } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";

/** More transactions than a ledger can have lost: those of one wallet in a day, more than ten every second. */
const MOST_UNKNOWN = 1_000_000;

type CompareContext = Pick<ChainContext, "sql" | "chainId" | "log"> & {
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
