import {
  type Address,
  type Hex,
  isAddressEqual,
  parseEventLogs,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import type { PolicyKey } from "./policy.ts";

/** A policy in the router's log; amounts have 6 decimals. */
export type BoughtPolicy = PolicyKey & { buyer: Address; coverage: bigint; premium: bigint; payout: bigint };

/** A mined transaction, and the policies that it bought from our router. */
export type MinedTransaction = {
  hash: Hex;
  succeeded: boolean;
  blockNumber: bigint;
  blockHash: Hex;
  from: Address;
  /** Null for the creation of a contract. */
  to: Address | null;
  gasUsed: bigint;
  policies: BoughtPolicy[];
};

/** Undefined when the node knows of no block with the transaction. Rejects when the node does not answer. */
export async function readReceipt(chain: ReadClient, hash: Hex): Promise<TransactionReceipt | undefined> {
  try {
    return await chain.getTransactionReceipt({ hash });
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return undefined;
    throw error;
  }
}

/** The transaction with the policies that it bought; as {@link readReceipt}. */
export async function readTransaction(
  chain: ReadClient,
  { coverRouter }: Contracts,
  hash: Hex,
): Promise<MinedTransaction | undefined> {
  const receipt = await readReceipt(chain, hash);
  if (!receipt) return undefined;
  const logs = receipt.logs.filter(({ address }) => isAddressEqual(address, coverRouter));
  const bought = parseEventLogs({ abi: coverRouterAbi, eventName: "PolicyPurchased", logs });
  return {
    hash,
    succeeded: receipt.status === "success",
    blockNumber: receipt.blockNumber,
    blockHash: receipt.blockHash,
    from: receipt.from,
    to: receipt.to,
    gasUsed: receipt.gasUsed,
    policies: bought.map(({ args }) => args),
  };
}
