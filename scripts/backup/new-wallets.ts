/** Relayer wallets that have bought since a backup, and that the backup lacks. */
import { type Address, encodeEventTopics, type Hex } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { scanLogs, WindowSize } from "../../lib/chain/log-scan.ts";
import { lower } from "../../lib/lower.ts";
import type { DeployedChain } from "../../workers/common/chains.ts";
import { purchaseOfCalldata } from "../../workers/relayer/purchase-calls.ts";

/** Transactions that are read together. */
const READ_TOGETHER = 100;

/** A wallet that relayed purchases, with its nonce after the block. */
export type RelayingWallet = { chainId: number; address: Address; nonce: number };

/**
 * The wallets that relayed purchases to the cover router after a block, each with its next nonce as of that block: a ledger of that
 * block knows none of their later transactions.
 * @throws LogScanError when the logs cannot be read; also rejects when the node does not answer, is behind the block or lacks its state
 */
export async function walletsSince(
  { deployment, chain }: DeployedChain,
  block: bigint,
): Promise<RelayingWallet[]> {
  const { chainId, contracts } = deployment;
  const head = await chain.client.getBlockNumber();
  if (head < block)
    throw new Error(`chain ${chainId}'s node is at block ${head}, and the backup at ${block}`);
  const hashes = new Set<Hex>();
  const [purchased] = encodeEventTopics({ abi: coverRouterAbi, eventName: "PolicyPurchased" });
  await scanLogs(
    { client: chain.client, window: new WindowSize(), signal: new AbortController().signal },
    { address: contracts.coverRouter, topics: [purchased] },
    { from: block + 1n, to: head },
    (logs) => {
      for (const { transactionHash } of logs) if (transactionHash) hashes.add(transactionHash);
    },
  );
  const wallets = new Set<Address>();
  const unread = [...hashes];
  while (unread.length > 0) {
    const read = unread.splice(0, READ_TOGETHER).map((hash) => chain.client.getTransaction({ hash }));
    for (const { from, to, input } of await Promise.all(read)) {
      // The router takes this call from the wallets on its allowlist alone. A client that buys for itself makes another one.
      if (to && lower(to) === lower(contracts.coverRouter) && purchaseOfCalldata(input))
        wallets.add(lower(from));
    }
  }
  return Promise.all(
    [...wallets].map(async (address) => ({ chainId, address, nonce: await chain.nonce(address, block) })),
  );
}
