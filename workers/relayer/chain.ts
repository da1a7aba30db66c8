import {
  type Address,
  BaseError,
  type Hex,
  hexToBigInt,
  isHex,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  numberToHex,
  ResponseBodyTooLargeError,
  type RpcBlock,
  RpcRequestError,
  type RpcTransactionReceipt,
} from "viem";
import { createReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";

/** A block as the writer uses it; `baseFee` in wei per gas. */
export type Block = {
  number: bigint;
  hash: Hex;
  parentHash: Hex;
  baseFee: bigint;
  transactions: readonly Hex[];
};
export type Log = { address: Address; topics: readonly Hex[]; data: Hex };
export type Receipt = {
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  succeeded: boolean;
  logs: readonly Log[];
  /** What its gas cost in wei, the L1's share included. */
  gasCost: bigint;
};
/** `value` in wei, none when left out. */
export type CallRequest = { from: Address; to: Address; data: Hex; value?: bigint };

/**
 * The calls that the writer makes to a node, and no others. Calls of the same tick travel in one HTTP request. Every
 * function rejects when the node does not answer.
 */
export function openChain(deployment: Pick<Deployment, "chainId" | "name">, rpcUrl: string) {
  const client = createReadClient(deployment, rpcUrl);
  let blockReceipts = true;
  const height = (at: bigint | "latest") => (at === "latest" ? at : numberToHex(at));

  return {
    client,
    /**
     * Gas that the call needs now; with `most`, the node tries no more than that. Rejects with the contract's revert when it
     * would revert, and with an error of the node when `most` is not enough.
     */
    async estimateGas(call: CallRequest, most?: bigint): Promise<bigint> {
      const request = { ...requestOf(call), ...(most === undefined ? {} : { gas: numberToHex(most) }) };
      const params: [typeof request, "latest"] = [request, "latest"];
      return hexToBigInt(await client.request({ method: "eth_estimateGas", params }));
    },
    /** Runs the call in the state after a block; rejects with the contract's revert. */
    async call(call: CallRequest & { gas: bigint }, at: bigint | "latest"): Promise<void> {
      await client.request({
        method: "eth_call",
        params: [{ ...requestOf(call), gas: numberToHex(call.gas) }, height(at)],
      });
    },
    /** Hands signed bytes to the node. */
    async send(bytes: Hex): Promise<void> {
      await client.request({ method: "eth_sendRawTransaction", params: [bytes] }, { retryCount: 0 });
    },
    /** Undefined when the node has no block at this height. */
    async block(at: bigint | "latest"): Promise<Block | undefined> {
      return blockOf(await client.request({ method: "eth_getBlockByNumber", params: [height(at), false] }));
    },
    /** Sender, nonce and hash of each transaction of a block. */
    async senders(at: bigint): Promise<{ hash: Hex; from: Address; nonce: number }[]> {
      const block = await client.request({
        method: "eth_getBlockByNumber",
        params: [numberToHex(at), true],
      });
      return (block?.transactions ?? []).flatMap((tx) =>
        typeof tx === "string" ? [] : [{ hash: tx.hash, from: tx.from, nonce: Number(tx.nonce) }],
      );
    },
    /**
     * The receipts of some transactions of a block, in one call however many there are; a node that cannot do that, or not
     * for this block, is asked for each. A receipt that the node does not have is left out.
     */
    async receiptsIn(block: Pick<Block, "number">, hashes: readonly Hex[]): Promise<Receipt[]> {
      const wanted = new Set<string>(hashes);
      if (hashes.length > 1 && blockReceipts) {
        try {
          const params: [Hex] = [numberToHex(block.number)];
          const receipts = await client.request({ method: "eth_getBlockReceipts", params });
          return (receipts ?? []).filter((receipt) => wanted.has(receipt.transactionHash)).map(receiptOf);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          if (isUnknownMethod(error)) blockReceipts = false;
        }
      }
      const receipts = await Promise.all(hashes.map((hash) => this.receipt(hash)));
      return receipts.flatMap((receipt) => (receipt ? [receipt] : []));
    },
    /** Undefined when the node knows of no receipt, which proves nothing. */
    async receipt(hash: Hex): Promise<Receipt | undefined> {
      const receipt = await client.request({ method: "eth_getTransactionReceipt", params: [hash] });
      return receipt ? receiptOf(receipt) : undefined;
    },
    /** The number of a wallet's transactions: mined up to a block, or with those that wait in the node's pool. */
    async nonce(address: Address, at: bigint | "latest" | "pending"): Promise<number> {
      const tag = at === "pending" ? at : height(at);
      return Number(await client.request({ method: "eth_getTransactionCount", params: [address, tag] }));
    },
    /** In wei. */
    async balance(address: Address): Promise<bigint> {
      return hexToBigInt(await client.request({ method: "eth_getBalance", params: [address, "latest"] }));
    },
    /** What the node proposes to pay beside the base fee, in wei per gas. */
    async priorityFee(): Promise<bigint> {
      return hexToBigInt(await client.request({ method: "eth_maxPriorityFeePerGas" }));
    },
  };
}

/** A call as nodes take it. */
const requestOf = ({ from, to, data, value }: CallRequest) => ({
  from,
  to,
  data,
  ...(value === undefined ? {} : { value: numberToHex(value) }),
});

/** True when the node has answered that it will not, or with more than can be read; a node that is away has not. */
const isRefusal = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof RpcRequestError || cause instanceof ResponseBodyTooLargeError) !==
    null;

const isUnknownMethod = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) => cause instanceof MethodNotFoundRpcError || cause instanceof MethodNotSupportedRpcError,
  ) !== null;

export type Chain = ReturnType<typeof openChain>;

function blockOf(block: RpcBlock | null): Block | undefined {
  if (block === null || block.number === null || block.hash === null) return undefined;
  return {
    number: hexToBigInt(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    baseFee: hexToBigInt(block.baseFeePerGas ?? "0x0"),
    transactions: block.transactions.flatMap((tx) => (typeof tx === "string" ? [tx] : [])),
  };
}

const receiptOf = (receipt: RpcTransactionReceipt): Receipt => ({
  hash: receipt.transactionHash,
  blockNumber: hexToBigInt(receipt.blockNumber),
  blockHash: receipt.blockHash,
  succeeded: receipt.status === "0x1",
  logs: receipt.logs,
  gasCost: hexToBigInt(receipt.gasUsed) * hexToBigInt(receipt.effectiveGasPrice) + l1FeeOf(receipt),
});

/** Rollups of the OP stack bill the data that a transaction puts on the L1 apart from its gas; others have no such field. */
const l1FeeOf = (receipt: RpcTransactionReceipt): bigint =>
  "l1Fee" in receipt && isHex(receipt.l1Fee) ? hexToBigInt(receipt.l1Fee) : 0n;
