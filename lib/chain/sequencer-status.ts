/** The status of the chain's sequencer, as its uptime feed tells it. */
import { type Address, zeroAddress } from "viem";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { atBlock, type ReadClient } from "./client.ts";
import { ifAnswered } from "./reverts.ts";

/** `startedAt` is the start of the status, Unix seconds. */
export type SequencerStatus = { readonly up: boolean; readonly startedAt: bigint };

/** The status on a chain without uptime feed. */
export const ALWAYS_UP: SequencerStatus = { up: true, startedAt: 1n };

/**
 * The status in the state after a block, by default the newest; undefined when the feed has none to tell. Rejects when the
 * node does not answer, or lacks the state.
 */
export async function sequencerStatusAt(
  client: ReadClient,
  address: Address,
  blockNumber?: bigint,
): Promise<SequencerStatus | undefined> {
  if (address === zeroAddress) return ALWAYS_UP;
  const read = {
    address,
    abi: priceFeedAbi,
    functionName: "latestRoundData",
    ...atBlock(blockNumber),
  } as const;
  const round = await ifAnswered(client.readContract(read));
  if (round === undefined) return undefined;
  const [, answer, startedAt] = round;
  return { up: answer === 0n, startedAt };
}
