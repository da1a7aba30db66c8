import type { Address } from "viem";
import { noteCompared, type UncomparedWallet, uncomparedWallets } from "../ledger/compared-wallets.ts";
import { heldWallets, mayHaveUnknown, noteUnknown, readNonces } from "../ledger/unknown-transactions.ts";
import type { ChainContext } from "./chain-context.ts";
import { countAt, type HeadChain, laterHead } from "./recovery/later-head.ts";

/** More transactions than a ledger can have lost: those of one wallet in a day, more than ten every second. */
const MOST_UNKNOWN = 1_000_000;

export type CompareContext = Pick<ChainContext, "sql" | "chainId" | "log"> & {
  readonly chain: Pick<HeadChain, "nonce">;
};

/**
 * Notes nonces of a wallet that the chain has and the ledger does not. A nonce is committed before it is used: so the
 * database has lost its last commits, or another program has the wallet's key. One answer proves neither: the node is asked again.
 *
 * @param pending the chain's count, read before this call: the ledger's only rises.
 * @throws where the node takes its count back, or tells an impossible one
 */
export async function compareNonce(
  { sql, chain, chainId, log }: CompareContext,
  wallet: Address,
  pending: number,
): Promise<void> {
  const { next, unknownBelow } = await readNonces(sql, chainId, wallet);
  const known = Math.max(next ?? pending, unknownBelow ?? 0);
  if (pending <= known) return;
  const again = await chain.nonce(wallet, "pending");
  if (again < pending || pending - known > MOST_UNKNOWN)
    throw new Error(
      `the node counted ${pending} transactions of ${wallet}, then ${again}; the ledger has ${known}`,
    );
  const unknown = await noteUnknown(sql, chainId, wallet, pending);
  if (!unknown) return;
  log.error(
    { chainId, wallet, ...unknown },
    "the chain has transactions of a wallet that the ledger does not know: until they are reconciled, this wallet signs no new ones, nor does any other of the chain but a keeper's",
  );
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

/** Since when this writer has known, by `performance.now()`, that a server of the database lacks comparisons. */
export type LackSeen = Pick<UncomparedWallet, "server"> & { since: number };

/**
 * Compares the wallets that nobody has compared since commits may have been lost, whoever holds them: a purchase may have been
 * sent from any of them. What the chain lacks counts only at a head that is later than `seen`.
 *
 * @returns since when wallets have lacked the comparison; undefined when none lacks it any more.
 */
export async function compareUncompared(
  context: CompareContext & { readonly chain: HeadChain },
  seen: LackSeen | undefined,
): Promise<LackSeen | undefined> {
  const { sql, chain, chainId, log } = context;
  const wallets = await uncomparedWallets(sql, chainId);
  const [first] = wallets;
  if (!first) return undefined;
  const known = seen?.server === first.server ? seen : undefined;
  const lack = known ?? { server: first.server, since: performance.now() };
  if (!known) {
    const addresses = wallets.map(({ address }) => address);
    log.warn(
      { chainId, wallets: addresses },
      "commits may have been lost: wallets are compared before any signs",
    );
  }
  const head = await laterHead(chain, lack.since);
  await Promise.all(
    wallets.map(async (wallet) => {
      const count = await countAt(chain, wallet.address, head?.number ?? "latest");
      await compareNonce(context, wallet.address, count);
      if (head) await noteCompared(sql, chainId, wallet);
    }),
  );
  return head ? undefined : lack;
}
