import {
  type Address,
  BaseError,
  encodeFunctionData,
  formatTransaction,
  type Hex,
  hexToBigInt,
  isHex,
  keccak256,
  MethodNotFoundRpcError,
  MethodNotSupportedRpcError,
  numberToHex,
  parseAbi,
  ResponseBodyTooLargeError,
  type RpcBlock,
  RpcRequestError,
  type RpcTransaction,
  type RpcTransactionReceipt,
  serializeTransaction,
} from "viem";
import { createReadClient, type ReadClient } from "../../lib/chain/client.ts";
import {
  type CallRequest,
  type Log,
  requestOf,
  type SimulatedCalls,
  simulateCalls,
} from "../../lib/chain/simulate-calls.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { lower } from "../../lib/lower.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Signed } from "../ledger/transactions.ts";

/** A transaction of a block; `to` is null where it creates a contract. */
export type SentTransaction = Omit<Call, "to"> & {
  hash: Hex;
  from: Address;
  to: Address | null;
  nonce: number;
  /** Its signed form; undefined for a type of transaction that the writer never signs. */
  signed: Signed | undefined;
};

/** Reads a transaction of a block, with the signed bytes that have its hash. */
function sentTransactionOf(rpc: RpcTransaction): SentTransaction {
  const formatted = formatTransaction(rpc);
  const { hash, from, to, nonce, input, value, gas } = formatted;
  const sent = { hash, from: lower(from), to: to && lower(to), nonce, data: input, value, gasLimit: gas };
  return { ...sent, signed: signedForm(formatted) };
}

/** The writer signs fee-market transactions only (EIP-1559). */
function signedForm(transaction: ReturnType<typeof formatTransaction>): Signed | undefined {
  if (transaction.type !== "eip1559") return undefined;
  const { hash, chainId, nonce, to, input, value, gas, maxFeePerGas, maxPriorityFeePerGas, ...rest } =
    transaction;
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined || chainId === undefined)
    return undefined;
  const { accessList = [], r, s, yParity = Number(rest.v) } = rest;
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const bytes = serializeTransaction(
    { type: "eip1559", chainId, nonce, to, data: input, value, gas, accessList, ...fees },
    { r, s, yParity },
  );
  if (keccak256(bytes) !== hash) return undefined;
  return { hash, bytes, maxFee: maxFeePerGas, priorityFee: maxPriorityFeePerGas };
}

/** The fields of a block that the writer uses; `timestamp` in Unix seconds, `baseFee` in wei per gas. */
export type Block = {
  number: bigint;
  hash: Hex;
  parentHash: Hex;
  timestamp: bigint;
  baseFee: bigint;
  transactions: readonly Hex[];
};
export type Receipt = {
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  succeeded: boolean;
  logs: readonly Log[];
  /** Cost of the gas in wei, with the L1 data fee. */
  gasCost: bigint;
};

/** The contract of the OP stack that states the L1's fee for a transaction's data, at one address on all its chains. */
const GAS_ORACLE = "0x420000000000000000000000000000000000000F";
const gasOracleAbi = parseAbi(["function getL1Fee(bytes data) view returns (uint256)"]);

/**
 * All the requests that the writer sends to a node. Requests of the same tick share one HTTP request. Every function
 * rejects when the node does not answer.
 */
export function openChain(deployment: Pick<Deployment, "chainId" | "name">, rpcUrl: string) {
  const client = createReadClient(deployment, rpcUrl);
  const node: ReceiptSource = { client, supportsBlockReceipts: true };
  const height = (at: bigint | "latest") => (at === "latest" ? at : numberToHex(at));

  return {
    client,
    /**
     * Gas that the call needs in the latest state; with `limit`, the node tries no more gas than that. Rejects with the
     * contract's revert, and with the node's error when `limit` is not enough.
     */
    async estimateGas(call: CallRequest, limit?: bigint): Promise<bigint> {
      const request = requestOf(limit === undefined ? call : { ...call, gas: limit });
      const params: [typeof request, "latest"] = [request, "latest"];
      return hexToBigInt(await client.request({ method: "eth_estimateGas", params }));
    },
    /** Runs the call in the state after a block; rejects with the contract's revert. */
    async call(call: CallRequest & { gas: bigint }, at: bigint | "latest"): Promise<void> {
      await client.request({
        method: "eth_call",
        params: [requestOf(call), height(at)],
      });
    },
    /**
     * Runs the calls one after the other in the latest state, each in the state that those before it leave, right after `head`.
     */
    simulate: (calls: readonly CallRequest[], { number, timestamp }: Block): Promise<SimulatedCalls> =>
      // A node that has a newer block by now refuses a time before it.
      simulateCalls(client, calls, { number: "latest", timestamp }).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        return simulateCalls(client, calls, { number, timestamp });
      }),
    /** Broadcasts a signed transaction. */
    async send(bytes: Hex): Promise<void> {
      await client.request({ method: "eth_sendRawTransaction", params: [bytes] }, { retryCount: 0 });
    },
    /** Undefined when the node has no block at this height. */
    async block(at: bigint | "latest"): Promise<Block | undefined> {
      return blockOf(await client.request({ method: "eth_getBlockByNumber", params: [height(at), false] }));
    },
    /** The transactions of a block. */
    async transactions(at: bigint): Promise<SentTransaction[]> {
      const block = await client.request({
        method: "eth_getBlockByNumber",
        params: [numberToHex(at), true],
      });
      return (block?.transactions ?? []).flatMap((tx) =>
        typeof tx === "string" ? [] : [sentTransactionOf(tx)],
      );
    },
    /** The receipts of some transactions of a block. A receipt that the node does not have is left out. */
    receiptsIn: (block: Pick<Block, "number">, hashes: readonly Hex[]) => receiptsIn(node, block, hashes),
    /** Undefined when the node has no receipt, which does not prove that the transaction was not mined. */
    receipt: (hash: Hex) => readReceipt(client, hash),
    /** Reads the logs of a contract in a transaction with `eth_getLogs`, which does not depend on the receipt. */
    async logsOf(address: Address, { hash, blockHash }: Pick<Receipt, "hash" | "blockHash">): Promise<Log[]> {
      const logs = await client.request({ method: "eth_getLogs", params: [{ address, blockHash }] });
      return logs.filter(({ transactionHash }) => transactionHash === hash);
    },
    /** The wallet's transaction count: of mined transactions up to a block, or with those in the node's pool. */
    async nonce(address: Address, at: bigint | "latest" | "pending"): Promise<number> {
      const tag = at === "pending" ? at : height(at);
      return Number(await client.request({ method: "eth_getTransactionCount", params: [address, tag] }));
    },
    /** In wei. */
    async balance(address: Address): Promise<bigint> {
      return hexToBigInt(await client.request({ method: "eth_getBalance", params: [address, "latest"] }));
    },
    /** Whether the address has code now: a contract, or an account that EIP-7702 gives some. */
    async hasCode(address: Address): Promise<boolean> {
      return (await client.request({ method: "eth_getCode", params: [address, "latest"] })) !== "0x";
    },
    /** The priority fee that the node suggests, in wei per gas. */
    async priorityFee(): Promise<bigint> {
      return hexToBigInt(await client.request({ method: "eth_maxPriorityFeePerGas" }));
    },
    /** What the chain charges for an unsigned transaction's data on the L1 now, in wei; 0 without a gas oracle. */
    async l1Fee(unsigned: Hex): Promise<bigint> {
      const data = encodeFunctionData({ abi: gasOracleAbi, args: [unsigned] });
      const fee = await client.request({ method: "eth_call", params: [{ to: GAS_ORACLE, data }, "latest"] });
      return fee === "0x" ? 0n : hexToBigInt(fee);
    },
  };
}

type ReceiptSource = {
  readonly client: ReadClient;
  /** False once the node has said that it does not know `eth_getBlockReceipts`. */
  supportsBlockReceipts: boolean;
};

async function readReceipt(client: ReadClient, hash: Hex): Promise<Receipt | undefined> {
  const receipt = await client.request({ method: "eth_getTransactionReceipt", params: [hash] });
  return receipt ? receiptOf(receipt) : undefined;
}

/** Reads all receipts in one request, or one by one where the node refuses that, for this block or in general. */
async function receiptsIn(
  node: ReceiptSource,
  { number }: Pick<Block, "number">,
  hashes: readonly Hex[],
): Promise<Receipt[]> {
  const wanted = new Set<string>(hashes);
  if (hashes.length > 1 && node.supportsBlockReceipts) {
    try {
      const params: [Hex] = [numberToHex(number)];
      const receipts = await node.client.request({ method: "eth_getBlockReceipts", params });
      return (receipts ?? []).filter((receipt) => wanted.has(receipt.transactionHash)).map(receiptOf);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (isUnknownMethod(error)) node.supportsBlockReceipts = false;
    }
  }
  const receipts = await Promise.all(hashes.map((hash) => readReceipt(node.client, hash)));
  return receipts.flatMap((receipt) => (receipt ? [receipt] : []));
}

/** True when the node answered with an error, or with a body that is too large; false when it did not answer. */
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
    timestamp: hexToBigInt(block.timestamp),
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

/** Rollups of the OP stack charge for the data on the L1 apart from the gas; other chains have no such field. */
const l1FeeOf = (receipt: RpcTransactionReceipt): bigint =>
  "l1Fee" in receipt && isHex(receipt.l1Fee) ? hexToBigInt(receipt.l1Fee) : 0n;
