/** A deployed protocol on anvil, and how actions send transactions to it. */
import {
  type Abi,
  type Address,
  type ContractEventName,
  createPublicClient,
  type Hex,
  type LocalAccount,
  type ParseEventLogsReturnType,
  parseEventLogs,
  type TransactionReceipt,
} from "viem";
import { findRevert, type Revert } from "../../../../lib/chain/reverts.ts";
import type { Deployment } from "../../../../lib/deployments.ts";
import { toNode } from "../../to-node.ts";

const createProtocolClient = (rpcUrl: string) =>
  createPublicClient({ transport: toNode(rpcUrl, { batch: true }), cacheTime: 0 });

export type Protocol = {
  readonly deployment: Deployment;
  readonly rpcUrl: string;
  readonly client: ReturnType<typeof createProtocolClient>;
};

/** Opens a deployed protocol through this node. */
export const openProtocol = (deployment: Deployment, rpcUrl: string): Protocol => ({
  deployment,
  rpcUrl,
  client: createProtocolClient(rpcUrl),
});

/** A transaction that was mined and reverted. */
export class RevertedError extends Error {
  override name = "RevertedError";
  readonly revert: Revert;
  readonly receipt: TransactionReceipt;

  constructor(revert: Revert, receipt: TransactionReceipt) {
    super(revert.text);
    this.revert = revert;
    this.receipt = receipt;
  }
}

/** More than any call of the protocol uses. An estimate would fail for calls that are meant to revert. */
const GAS = 4_000_000n;

/**
 * Sends a call without simulating it first, and waits until it is mined.
 * @throws {@link RevertedError} with the decoded reason when it reverts.
 */
export async function send(
  { client, deployment }: Protocol,
  account: LocalAccount,
  to: Address,
  data: Hex,
  value = 0n,
  gas = GAS,
): Promise<TransactionReceipt> {
  const [nonce, block] = await Promise.all([
    client.getTransactionCount({ address: account.address, blockTag: "pending" }),
    client.getBlock(),
  ]);
  const serializedTransaction = await account.signTransaction({
    type: "eip1559",
    chainId: deployment.chainId,
    nonce,
    to,
    data,
    value,
    gas,
    maxFeePerGas: (block.baseFeePerGas ?? 0n) * 2n + 1_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
  });
  const receipt = await client.sendRawTransactionSync({ serializedTransaction, throwOnReceiptRevert: false });
  if (receipt.status === "reverted")
    throw new RevertedError(await reasonOf(client, account.address, to, data, receipt), receipt);
  return receipt;
}

/** The revert reason of a mined call, from repeating it in the state of its block. */
async function reasonOf(
  client: Protocol["client"],
  account: Address,
  to: Address,
  data: Hex,
  receipt: TransactionReceipt,
): Promise<Revert> {
  try {
    await client.call({ account, to, data, gas: GAS, blockNumber: receipt.blockNumber });
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return revert;
    throw error;
  }
  throw new Error(`transaction ${receipt.transactionHash} reverted, but its call does not`);
}

/** The only event of this name in a receipt. @throws when there is none, or more than one. */
export function onlyEvent<const abi extends Abi, name extends ContractEventName<abi>>(
  receipt: TransactionReceipt,
  abi: abi,
  eventName: name,
): ParseEventLogsReturnType<abi, name, true>[number] {
  const [event, ...others] = parseEventLogs<abi, true, name>({ abi, logs: receipt.logs, eventName });
  if (!event || others.length > 0)
    throw new Error(`${others.length + (event ? 1 : 0)} events ${String(eventName)}`);
  return event;
}
