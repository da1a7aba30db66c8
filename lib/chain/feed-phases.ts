/** The phases of Chainlink's proxies: their aggregators, and when each phase began. */
import { type Address, BaseError, HttpRequestError, RpcRequestError } from "viem";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { atBlock, type ReadClient } from "./client.ts";
import { isRateLimit, LIMIT_EXCEEDED } from "./rate-limit.ts";
import { findRevert, isEmptyAnswer } from "./reverts.ts";

/** The node refuses: it lacks the old state, or does not serve so wide a range. Too many requests are no refusal. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof BaseError &&
  !isRateLimit(error) &&
  error.walk(
    (cause) =>
      (cause instanceof RpcRequestError && cause.code !== LIMIT_EXCEEDED) ||
      (cause instanceof HttpRequestError && (cause.status === 400 || cause.status === 413)),
  ) !== null;

const isLimitExceeded = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof RpcRequestError && cause.code === LIMIT_EXCEEDED) !== null;

/** The newest phase of a proxy at a block, by default now; undefined for a feed that is no proxy. */
export async function phaseAt(
  client: ReadClient,
  address: Address,
  blockNumber?: bigint,
): Promise<number | undefined> {
  try {
    const read = {
      address,
      abi: priceFeedProxyAbi,
      functionName: "phaseId",
      ...atBlock(blockNumber),
    } as const;
    return await client.readContract(read);
  } catch (error) {
    if (findRevert(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * The first number above `low` and up to `high` for which `isPast` is true. It must be true for `high`, and for each
 * number after one for which it is true.
 */
export async function firstPast(
  low: bigint,
  high: bigint,
  isPast: (number: bigint) => Promise<boolean>,
): Promise<bigint> {
  let [before, found] = [low, high];
  while (found - before > 1n) {
    const middle = (before + found) / 2n;
    if (await isPast(middle)) found = middle;
    else before = middle;
  }
  return found;
}

/** The aggregators that a proxy announced since a block. A node may refuse so wide a range; then none is known. */
async function announcedAggregators(
  client: ReadClient,
  address: Address,
  fromBlock: bigint,
): Promise<ReadonlySet<string>> {
  try {
    const logs = await client.getContractEvents({
      address,
      abi: priceFeedProxyAbi,
      eventName: "AggregatorConfirmed",
      fromBlock,
      strict: true,
    });
    return new Set(logs.map((log) => log.args.latest.toLowerCase()));
  } catch (error) {
    if (isRefusal(error) || isLimitExceeded(error)) return new Set();
    throw error;
  }
}

/** The aggregators of a feed's phases, in their order: the feed itself, as phase 0, when it is no proxy. */
export async function phaseAggregators(client: ReadClient, address: Address) {
  const newest = await phaseAt(client, address);
  if (newest === undefined) return [{ phase: 0, aggregator: address }];
  return Promise.all(
    Array.from({ length: newest }, async (_, index) => {
      const phase = index + 1;
      const args = [phase] as const;
      const read = { address, abi: priceFeedProxyAbi, functionName: "phaseAggregators", args } as const;
      return { phase, aggregator: await client.readContract(read) };
    }),
  );
}

export type Range = { readonly firstBlock: bigint; readonly head: bigint };

/** Whether the node has the states of a proxy since a block. One that has this state has the newer ones too. */
async function hasOldStates(client: ReadClient, proxy: Address, since: bigint): Promise<boolean> {
  try {
    await phaseAt(client, proxy, since);
    return true;
  } catch (error) {
    if (isEmptyAnswer(error)) return true; // the proxy was created later
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** The blocks from which the phases count, as the proxy's old states tell. */
function startsByState(
  client: ReadClient,
  proxy: Address,
  phases: readonly number[],
  { firstBlock, head }: Range,
): Promise<number[]> {
  const hasBegun = async (phase: number, block: bigint) => {
    try {
      return ((await phaseAt(client, proxy, block)) ?? 0) >= phase;
    } catch (error) {
      if (isEmptyAnswer(error)) return false; // the proxy was created later
      throw error;
    }
  };
  return Promise.all(
    phases.map(async (phase) => {
      if (await hasBegun(phase, firstBlock)) return Number(firstBlock);
      // Within the block of the change only a log of the proxy tells, which the index has read by then.
      return 1 + Number(await firstPast(firstBlock, head, (block) => hasBegun(phase, block)));
    }),
  );
}

/** When the phases of a proxy begin: by its old states; or else by its logs; or else, with a warning, before everything. */
export async function phaseStarts(
  client: ReadClient,
  proxy: Address,
  phases: readonly { phase: number; aggregator: Address }[],
  range: Range,
  warn: (what: string) => void,
): Promise<(number | null)[]> {
  const numbers = phases.map(({ phase }) => phase);
  if (await hasOldStates(client, proxy, range.firstBlock))
    return startsByState(client, proxy, numbers, range);
  const announced = await announcedAggregators(client, proxy, range.firstBlock);
  return phases.map(({ phase, aggregator }) => {
    if (announced.has(aggregator.toLowerCase())) return null;
    warn(
      `the node has no old state: phase ${phase} of feed ${proxy} counts from block ${range.firstBlock} on, unless an earlier start knew more`,
    );
    return Number(range.firstBlock);
  });
}
