/** Responses that describe one block, read from the chain alone. */
import { type Address, BaseError, BlockNotFoundError } from "viem";
import { LogScanError } from "../../lib/chain/log-scan.ts";
import type { ScanClients } from "../../lib/chain/scan-clients.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/timeout.ts";
import { chainError, chainNotFound, DEPENDENCY_TIMEOUT_MS } from "../http/dependency-timeout.ts";
import type { ChainHead } from "./block.ts";
import { SCAN_TIMEOUT_MS, type SharedScans } from "./shared-scans.ts";

/** A scan that meets two reorganisations fails; the client may retry later. */
const ATTEMPTS = 2;

type Reads = ScanClients["reads"];

/** A response's body, and the block that it describes. */
export type BlockAnswer<Body> = { block: ChainHead; body: Body };

export type BlockReader = {
  /** The newest block; concurrent calls share one read. */
  readonly head: () => Promise<ChainHead>;
  readonly reads: Reads;
};

/** Reads the newest block of the deployment's chain. @throws ApiError `chain_not_found` for another or an empty chain */
async function readHead(
  reads: Reads,
  { chainId: expected, startBlock }: Deployment | IncompleteDeployment,
): Promise<ChainHead> {
  const [chainId, { number, hash, timestamp }] = await Promise.all([
    reads.getChainId(),
    reads.getBlock({ blockTag: "latest" }),
  ]);
  // A wrong or empty chain has no logs of ours, which would look like a wallet without policies.
  if (chainId !== expected || number < BigInt(startBlock)) {
    throw chainNotFound(new Error(`the node is at block ${number} of chain ${chainId}`));
  }
  return { number, hash, timestamp };
}

export const createBlockReader = (
  reads: Reads,
  deployment: Deployment | IncompleteDeployment,
): BlockReader => ({ reads, head: shareRead(0, () => readHead(reads, deployment)) });

async function isCanonical(reads: Reads, { number, hash }: ChainHead): Promise<boolean> {
  try {
    return (await reads.getBlock({ blockNumber: number })).hash === hash;
  } catch (error) {
    if (error instanceof BlockNotFoundError) return false;
    throw error;
  }
}

/** The wallet that is asked for, and the client that asks. */
export type WalletQuestion = { readonly wallet: Address; readonly client: string };

type Shape<T, Body> = (value: T, block: ChainHead) => Promise<Body>;

/** One attempt; undefined when the block was reorganised away meanwhile. */
async function attempt<T, Body>(
  { head, reads }: BlockReader,
  scans: SharedScans<T>,
  question: WalletQuestion,
  shape: Shape<T, Body>,
): Promise<BlockAnswer<Body> | undefined> {
  let block = await head();
  try {
    const found = await scans.find(question.wallet, block, question.client);
    block = found.block;
    const body = await shape(found.value, block);
    if (await isCanonical(reads, block)) return { block, body };
  } catch (error) {
    // A node may also refuse to read a block that it no longer has.
    if (error instanceof ApiError || (await isCanonical(reads, block))) throw error;
  }
  scans.forget(question.wallet, block);
  return undefined;
}

async function attempts<T, Body>(
  reader: BlockReader,
  scans: SharedScans<T>,
  question: WalletQuestion,
  shape: Shape<T, Body>,
): Promise<BlockAnswer<Body>> {
  for (let i = 0; i < ATTEMPTS; i += 1) {
    const answer = await attempt(reader, scans, question, shape);
    if (answer) return answer;
  }
  throw chainNotFound(new Error("the chain was reorganised again during the scan"));
}

/** Any failure of the node as `chain_not_found`, of a contract as `contract_mismatch`. */
function asApiError(error: unknown): unknown {
  const isNodeFailure =
    error instanceof BaseError ||
    error instanceof LogScanError ||
    (error instanceof Error && ["AbortError", "TimeoutError"].includes(error.name));
  return isNodeFailure ? chainError(error) : error;
}

/**
 * Scans for the wallet's rows as of the newest block and shapes them. When that block is reorganised away meanwhile, it
 * starts over once.
 * @throws ApiError `chain_not_found` when anything could not be read in time, `scan_busy` when too many scans run
 */
export async function answerFromOneBlock<T, Body>(
  reader: BlockReader,
  scans: SharedScans<T>,
  question: WalletQuestion,
  shape: Shape<T, Body>,
): Promise<BlockAnswer<Body>> {
  try {
    return await within(SCAN_TIMEOUT_MS, attempts(reader, scans, question, shape), chainNotFound);
  } catch (error) {
    throw asApiError(error);
  }
}

/** One attempt; undefined when the block was reorganised away meanwhile. */
async function readOnce<T>(
  { head, reads }: BlockReader,
  read: (block: ChainHead) => Promise<T>,
): Promise<{ block: ChainHead; value: T } | undefined> {
  const block = await head();
  try {
    const value = await read(block);
    return (await isCanonical(reads, block)) ? { block, value } : undefined;
  } catch (error) {
    // A node may also refuse to read a block that it no longer has.
    if (error instanceof ApiError || (await isCanonical(reads, block))) throw error;
    return undefined;
  }
}

/**
 * Reads something as of the newest block. When that block is reorganised away meanwhile, it starts over once.
 * @throws ApiError `chain_not_found` when anything could not be read in time, and what `read` throws
 */
export async function readAtOneBlock<T>(
  reader: BlockReader,
  read: (block: ChainHead) => Promise<T>,
): Promise<{ block: ChainHead; value: T }> {
  const tries = async () => {
    for (let i = 0; i < ATTEMPTS; i += 1) {
      const found = await readOnce(reader, read);
      if (found) return found;
    }
    throw chainNotFound(new Error("the chain was reorganised again during the read"));
  };
  try {
    return await within(DEPENDENCY_TIMEOUT_MS, tries(), chainNotFound);
  } catch (error) {
    throw asApiError(error);
  }
}
