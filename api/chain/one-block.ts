/** Answers that are of one block, read from the chain alone. */
import { type Address, BaseError, BlockNotFoundError } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/within.ts";
import type { Dependencies } from "../dependencies.ts";
import { chainNotFound } from "../http/dependency-timeout.ts";
import type { ChainHead } from "./chain-reads.ts";
import { LogScanError } from "./log-scan.ts";
import { SCAN_TIMEOUT_MS, type SharedScans } from "./shared-scans.ts";

/** A reorganisation that meets an answer twice is no accident of timing: the client may try later. */
const ATTEMPTS = 2;

export type BlockReader = {
  /**
   * Makes an answer of what a scan finds for the wallet, as of the head when the scan began. When that block was
   * reorganised away meanwhile, it starts over, once.
   * @throws ApiError `chain_not_found` when anything could not be read in time, `scan_busy` when too many scans run
   */
  answer<T, Body>(
    scans: SharedScans<T>,
    wallet: Address,
    shape: (value: T, block: ChainHead) => Promise<Body>,
  ): Promise<{ block: ChainHead; body: Body }>;
};

/** A failure of the node, by whatever way, as the one that clients know. */
function asApiError(error: unknown): unknown {
  const isNodes =
    error instanceof BaseError ||
    error instanceof LogScanError ||
    (error instanceof Error && ["AbortError", "TimeoutError"].includes(error.name));
  return isNodes ? chainNotFound(error) : error;
}

export function createBlockReader({ live: { reads }, deployment }: Dependencies): BlockReader {
  /** One call for all who ask at the same time, and none kept. */
  const head = shareRead(0, async (): Promise<ChainHead> => {
    const [chainId, { number, hash, timestamp }] = await Promise.all([
      reads.getChainId(),
      reads.getBlock({ blockTag: "latest" }),
    ]);
    // A wrong or empty chain has no logs of ours, which must not be taken for a wallet that has nothing.
    if (chainId !== deployment.chainId || number < BigInt(deployment.startBlock)) {
      throw chainNotFound(new Error(`the node is at block ${number} of chain ${chainId}`));
    }
    return { number, hash, timestamp };
  });

  async function isStillThere({ number, hash }: ChainHead): Promise<boolean> {
    try {
      return (await reads.getBlock({ blockNumber: number })).hash === hash;
    } catch (error) {
      if (error instanceof BlockNotFoundError) return false;
      throw error;
    }
  }

  async function attempt<T, Body>(
    scans: SharedScans<T>,
    wallet: Address,
    shape: (value: T, block: ChainHead) => Promise<Body>,
  ): Promise<{ block: ChainHead; body: Body } | undefined> {
    let block = await head();
    try {
      const found = await scans.find(wallet, block);
      block = found.block;
      const body = await shape(found.value, block);
      if (await isStillThere(block)) return { block, body };
    } catch (error) {
      // A node may also refuse to read a block that it no longer has.
      if (error instanceof ApiError || (await isStillThere(block))) throw error;
    }
    scans.forget(wallet, block);
    return undefined;
  }

  return {
    async answer(scans, wallet, shape) {
      const run = async () => {
        for (let i = 0; i < ATTEMPTS; i += 1) {
          const answer = await attempt(scans, wallet, shape);
          if (answer) return answer;
        }
        throw chainNotFound(new Error("the chain was reorganised again while it was read"));
      };
      try {
        return await within(SCAN_TIMEOUT_MS, run(), chainNotFound);
      } catch (error) {
        throw asApiError(error);
      }
    },
  };
}
