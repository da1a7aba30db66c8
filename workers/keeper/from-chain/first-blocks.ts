/** How far back the chain is read for the policies that are open at a time. */
import { MAX_PRICE_AGE } from "../../../lib/price-rules.ts";
import type { BlockClock } from "./block-clock.ts";
import type { CoverChain } from "./cover-chain.ts";

/**
 * The block from which policies may be open at a time (Unix seconds), and the one from which rounds may count for them: a round may
 * be logged before a purchase if it is dated ahead, by less than an hour.
 */
export async function firstBlocks(
  { deployment }: CoverChain,
  clock: BlockClock,
  { longest, time, last }: { longest: bigint; time: bigint; last: bigint },
): Promise<{ policies: bigint; rounds: bigint }> {
  const start = BigInt(deployment.startBlock);
  const closed = await clock.lastAt(time - longest - 1n, { from: start, to: last });
  const policies = closed === undefined ? start : closed + 1n;
  if (policies > last) return { policies, rounds: last };
  const sold = await clock.timeOf(policies);
  const earlier = await clock.lastAt(sold - BigInt(MAX_PRICE_AGE), { from: 0n, to: policies });
  return { policies, rounds: earlier ?? 0n };
}
