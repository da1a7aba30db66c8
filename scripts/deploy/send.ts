/** Sends planned transactions on a public network, each after the previous one is mined. */
import { keccak256, type LocalAccount, type TransactionReceipt } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { PlannedTransaction } from "../local/protocol/planned-transactions.ts";
import { waitFor } from "../local/wait.ts";

export type Sender = {
  readonly client: ReadClient;
  readonly chainId: number;
  readonly account: LocalAccount;
  /** Called for each mined transaction, with its place in the list. */
  readonly onMined: (index: number, receipt: TransactionReceipt) => void;
};

/** Far longer than a block of any network. */
const MINED_WITHIN_MS = 5 * 60_000;
const POLL_MS = 250;
/** Some chains have a block long before that. */
const FIRST_POLL_MS = 15;

/** Fees per gas in wei. The base fee may double before the transaction is mined; unused fee is not charged. */
export async function feesOf(client: ReadClient) {
  const { baseFeePerGas } = await client.getBlock();
  if (baseFeePerGas === null) throw new Error("the network has no base fee (EIP-1559)");
  const maxPriorityFeePerGas = await client.estimateMaxPriorityFeePerGas();
  return { maxFeePerGas: baseFeePerGas * 2n + maxPriorityFeePerGas, maxPriorityFeePerGas };
}

/** Waits until all of the deployer's transactions are mined. @returns its next nonce */
export const minedNonce = (client: ReadClient, account: LocalAccount): Promise<number> =>
  waitFor({
    what: `the transactions of ${account.address} that are already sent to be mined`,
    probe: async () => {
      const { address } = account;
      const [mined, sent] = await Promise.all([
        client.getTransactionCount({ address, blockTag: "latest" }),
        client.getTransactionCount({ address, blockTag: "pending" }),
      ]);
      return mined >= sent ? mined : undefined;
    },
    timeoutMs: MINED_WITHIN_MS,
    intervalMs: POLL_MS,
  });

async function sendOne(
  { client, chainId, account }: Sender,
  { what, to, data, gas }: PlannedTransaction,
  nonce: number,
): Promise<TransactionReceipt> {
  const fees = await feesOf(client);
  const serializedTransaction = await account.signTransaction({
    type: "eip1559",
    chainId,
    nonce,
    to,
    data,
    gas,
    ...fees,
  });
  const hash = keccak256(serializedTransaction);
  await client.sendRawTransaction({ serializedTransaction }).catch(async (error: unknown) => {
    // A lost answer is no refusal: the node may have the transaction all the same.
    await client.getTransaction({ hash }).catch(() => Promise.reject(error));
  });
  const receipt = await waitFor({
    what: `${what} (transaction ${hash}) to be mined`,
    probe: () => client.getTransactionReceipt({ hash }),
    timeoutMs: MINED_WITHIN_MS,
    intervalMs: FIRST_POLL_MS,
    maxIntervalMs: POLL_MS,
  });
  if (receipt.status === "reverted") throw new Error(`${what} reverted: transaction ${hash}`);
  return receipt;
}

/**
 * Sends the transactions from the `from`th on; the first of all has the nonce `firstNonce`.
 * @throws when the node rejects a transaction, one reverts, or one is not mined within five minutes
 */
export async function sendFrom(
  sender: Sender,
  transactions: readonly PlannedTransaction[],
  { firstNonce, from }: { readonly firstNonce: number; readonly from: number },
): Promise<void> {
  for (const [index, transaction] of transactions.entries()) {
    if (index < from) continue;
    sender.onMined(index, await sendOne(sender, transaction, firstNonce + index));
  }
}
