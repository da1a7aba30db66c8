/** Sends many transactions of one account, on chains that we deploy to. */
import {
  type Address,
  createPublicClient,
  type Hex,
  http,
  type LocalAccount,
  type TransactionReceipt,
} from "viem";

/** A call, or with `to` null a creation. `what` names it in errors. */
export type PlannedTransaction = {
  readonly what: string;
  readonly to: Address | null;
  readonly data: Hex;
  readonly gas: bigint;
};

export type SendOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly account: LocalAccount;
};

/**
 * Signs the transactions with nonces from `firstNonce` on, and sends each once the one before it is mined.
 *
 * One at a time, although the nonces are known: anvil that mines by transaction loses some of a burst. One that it
 * checks while the one before it is being mined waits for a nonce that has passed, and blocks all that follow.
 * @throws when one is refused or reverts.
 */
export async function sendAll(
  { rpcUrl, chainId, account }: SendOptions,
  transactions: readonly PlannedTransaction[],
  firstNonce: number,
): Promise<TransactionReceipt[]> {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  const { baseFeePerGas } = await client.getBlock();
  const maxPriorityFeePerGas = 1_000_000n;
  // The base fee at most doubles within seven full blocks, and these are not full; the rest is not charged.
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
