/** Sends planned transactions of one account in order. */
import { createPublicClient, type LocalAccount, type TransactionReceipt } from "viem";
import { toNode } from "../to-node.ts";
import type { PlannedTransaction } from "./planned-transactions.ts";

export type SendOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly account: LocalAccount;
};

/**
 * Signs the transactions with nonces from `firstNonce` on, and sends each one after the previous one is mined. Anvil that
 * mines by transaction loses some of a burst: it checks a transaction while the previous one is being mined, waits for a
 * nonce that was already used, and blocks all that follow.
 * @throws when the node rejects a transaction, or one reverts.
 */
export async function sendAll(
  { rpcUrl, chainId, account }: SendOptions,
  transactions: readonly PlannedTransaction[],
  firstNonce: number,
): Promise<TransactionReceipt[]> {
  const client = createPublicClient({ transport: toNode(rpcUrl), cacheTime: 0 });
  const { baseFeePerGas } = await client.getBlock();
  const maxPriorityFeePerGas = 1_000_000n;
  // The base fee at most doubles within seven full blocks, and these are not full. Unused fee is not charged.
  const maxFeePerGas = (baseFeePerGas ?? 0n) * 2n + maxPriorityFeePerGas;
  const signed = await Promise.all(
    transactions.map(({ to, data, gas }, index) =>
      account.signTransaction({
        type: "eip1559",
        chainId,
        nonce: firstNonce + index,
        to,
        data,
        gas,
        maxFeePerGas,
        maxPriorityFeePerGas,
      }),
    ),
  );
  const receipts: TransactionReceipt[] = [];
  for (const [index, serializedTransaction] of signed.entries()) {
    const receipt = await client.sendRawTransactionSync({
      serializedTransaction,
      throwOnReceiptRevert: false,
    });
    if (receipt.status === "reverted") throw new Error(`${transactions[index]?.what} reverted`);
    receipts.push(receipt);
  }
  return receipts;
}
