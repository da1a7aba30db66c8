/** Reads of a reported transaction from the chain's node. */
import { setTimeout as sleep } from "node:timers/promises";
import { BlockNotFoundError, type Hex, TransactionNotFoundError } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { ApiError } from "../../lib/errors.ts";
import { readReceipt } from "../chain/contracts/transaction.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "../http/concurrency-limit.ts";
import { chainNotFound, fromChain, nodeErrorIn } from "../http/dependency-timeout.ts";
import type { Logs } from "./judge.ts";
import type { ReportRecord } from "./report.ts";

type Block = ReportRecord["block"];

/** A transaction as the node has it now. */
export type FoundTransaction =
  | { readonly state: "unknown" }
  /** Known, in no block. */
  | { readonly state: "pending" }
  /** `reason` is the contract's; undefined when repeating the call gives none. */
  | { readonly state: "reverted"; readonly block: Block; readonly reason: string | undefined }
  | { readonly state: "succeeded"; readonly block: Block; readonly logs: Logs };

/**
 * Runs calls to the node within the time limit.
 * @throws ApiError `rpc_error` when the node answers with an error, `chain_not_found` when it does not answer
 */
async function askNode<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await fromChain(call);
  } catch (error) {
    const cause = nodeErrorIn(error);
    if (!cause) throw error;
    throw new ApiError("rpc_error", "The chain's node answered with an error.", { cause });
  }
}

async function readBlock(
  client: ReadClient,
  at: { blockHash: Hex } | { blockNumber: bigint } | { blockTag: "latest" },
): Promise<Block | undefined> {
  try {
    const { number, hash, timestamp } = await client.getBlock(at);
    return { number, hash, timestamp };
  } catch (error) {
    if (error instanceof BlockNotFoundError) return undefined;
    throw error;
  }
}

async function readTransaction(client: ReadClient, hash: Hex) {
  try {
    return await client.getTransaction({ hash });
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return undefined;
    throw error;
  }
}

type Transaction = NonNullable<Awaited<ReturnType<typeof readTransaction>>>;

/**
 * Most revert reasons that this process reads at the same time. The reporter chooses the contract, and its reason may have
 * megabytes. Above the limit a report gets no reason.
 */
const MAX_REASONS = 4;

/** What reports read from the node with. `reasons` limits the reads of reasons. */
export type ReportNode = { readonly client: ReadClient; readonly reasons: ConcurrencyLimit };

export const reportNode = (client: ReadClient): ReportNode => ({
  client,
  reasons: createConcurrencyLimit(MAX_REASONS, chainNotFound),
});

/** The reason of a revert, from the same call in the state after its block. */
async function revertReason(
  { client, reasons }: ReportNode,
  { from: account, to, input: data, value, gas }: Transaction,
  blockNumber: bigint,
): Promise<string | undefined> {
  if (to === null) return undefined; // a contract's creation calls none of ours
  try {
    await reasons(() => client.call({ account, to, data, value, gas, blockNumber }));
  } catch (error) {
    return findRevert(error)?.text;
  }
  return undefined;
}

/** The transaction as the node has it now. @throws ApiError `rpc_error`, `chain_not_found` */
const findNow = (node: ReportNode, hash: Hex): Promise<FoundTransaction> =>
  askNode(async () => {
    const { client } = node;
    const [receipt, transaction] = await Promise.all([
      readReceipt(client, hash),
      readTransaction(client, hash),
    ]);
    if (!receipt) return { state: transaction ? "pending" : "unknown" };
    if (!Array.isArray(receipt.logs)) throw chainNotFound(new Error("the node's receipt has no logs"));
    const block = await readBlock(client, { blockHash: receipt.blockHash });
    // A reorganisation has removed the block meanwhile, and the transaction is likely to be mined again.
    if (!block) return { state: "pending" };
    if (receipt.status === "success") return { state: "succeeded", block, logs: receipt.logs };
    const reason = transaction && (await revertReason(node, transaction, block.number));
    return { state: "reverted", block, reason };
  });

/**
 * How long the node must not know a transaction until it does not exist, in ms: a client reports once its own node has
 * mined the transaction, and another node of the chain may be a block behind, which are 2 seconds on an L2.
 */
const UNKNOWN_MS = 3000;
const ASK_EVERY_MS = 500;

/**
 * The transaction as the node has it. It is unknown only if the node has not known it for three seconds, and is not behind
 * `knownBlock`, the newest block that the service knows from elsewhere (undefined: from nowhere). A node that lags by more,
 * unnoticed, makes a report fail with `tx_not_found`, which stores nothing: the same report succeeds later.
 * @throws ApiError `rpc_error` when the node answers with an error, `chain_not_found` when it does not answer, or lags
 */
export async function findTransaction(
  node: ReportNode,
  hash: Hex,
  knownBlock: () => Promise<bigint | undefined>,
): Promise<FoundTransaction> {
  for (const begun = performance.now(); ; await sleep(ASK_EVERY_MS)) {
    const found = await findNow(node, hash);
    if (found.state !== "unknown") return found;
    if (performance.now() - begun >= UNKNOWN_MS) break;
  }
  const [known, head] = await Promise.all([
    knownBlock(),
    askNode(() => readBlock(node.client, { blockTag: "latest" })),
  ]);
  if (known !== undefined && (head === undefined || head.number < known)) {
    throw chainNotFound(new Error(`the node is at block ${head?.number}, and the index at ${known}`));
  }
  return { state: "unknown" };
}

/** The number of the newest final block; undefined where the node does not know the tag. */
const finalizedNumber = (client: ReadClient): Promise<bigint | undefined> =>
  client.getBlock({ blockTag: "finalized" }).then(
    ({ number }) => number,
    () => undefined,
  );

/**
 * Whether a block is still the chain's, and final. A node without a block at its height lags or is being reorganised, which
 * proves nothing about it.
 * @throws ApiError `rpc_error`, `chain_not_found`
 */
export function blockStatus(
  { client }: ReportNode,
  { number, hash }: Block,
): Promise<"replaced" | "canonical" | "final"> {
  return askNode(async () => {
    const [current, finalized] = await Promise.all([
      readBlock(client, { blockNumber: number }),
      finalizedNumber(client),
    ]);
    if (current && current.hash !== hash) return "replaced";
    return current && finalized !== undefined && number <= finalized ? "final" : "canonical";
  });
}
