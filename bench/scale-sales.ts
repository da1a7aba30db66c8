/**
 * Each purchase of the scale benchmark covers an amount of its own. The event of a policy has that amount, so the chain alone tells
 * which idempotency keys bought a policy, and how many.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { getAbiItem } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { MINIMUM_COVERAGE } from "../lib/products.ts";
import type { Protocol } from "../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../scripts/local/wait.ts";

/** Blocks in one request: viem rejects answers of more than 10 MB, and a block has some hundreds of purchases. */
const WINDOW = 10n;
const POLL_MS = 50;

const purchased = getAbiItem({ abi: coverRouterAbi, name: "PolicyPurchased" });

/** The amounts that were given out. */
export type Sales = {
  /** Gives out `count` amounts. @returns the first; the others follow it one by one. */
  readonly take: (count: number) => bigint;
  readonly taken: () => { readonly from: bigint; readonly below: bigint };
};

/** No amount is the least possible one, which transactions that are sent to the chain directly cover. */
export function openSales(): Sales {
  const from = MINIMUM_COVERAGE + 1n;
  let below = from;
  return {
    take(count) {
      const first = below;
      below += BigInt(count);
      return first;
    },
    taken: () => ({ from, below }),
  };
}

/** The amounts that the policies of these blocks cover, without the least possible one. */
async function coveragesIn(
  { client, deployment }: Protocol,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<bigint[]> {
  const found: bigint[] = [];
  for (let from = fromBlock; from <= toBlock; from += WINDOW) {
    const last = from + WINDOW - 1n;
    const logs = await client.getLogs({
      address: deployment.contracts.coverRouter,
      event: purchased,
      fromBlock: from,
      toBlock: last < toBlock ? last : toBlock,
      strict: true,
    });
    for (const { args } of logs) if (args.coverage !== MINIMUM_COVERAGE) found.push(args.coverage);
  }
  return found;
}

export type Watch = {
  /** When a policy that covers this amount was first seen, by `performance.now()`. */
  readonly minedAt: (coverage: bigint) => number | undefined;
  readonly newestBlock: () => bigint;
  readonly stop: () => Promise<void>;
};

/** Notes when the policies of new blocks are seen. */
export async function watchSales(protocol: Protocol): Promise<Watch> {
  const seen = new Map<bigint, number>();
  let newest = await protocol.client.getBlockNumber({ cacheTime: 0 });
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      await sleep(POLL_MS);
      const number = await protocol.client.getBlockNumber({ cacheTime: 0 });
      if (number <= newest) continue;
      for (const coverage of await coveragesIn(protocol, newest + 1n, number))
        if (!seen.has(coverage)) seen.set(coverage, performance.now());
      newest = number;
    }
  })();
  return {
    minedAt: (coverage) => seen.get(coverage),
    newestBlock: () => newest,
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

export type Verdict = {
  readonly keys: number;
  /** Keys without a policy. */
  readonly lost: number;
  /** Keys with more than one policy. */
  readonly twice: number;
  /** Policies without a key. */
  readonly strange: number;
};

/**
 * Waits until each key has a policy, for a minute at most, and until `final`, so that nothing is on its way any more; then reads the whole
 * chain.
 */
export async function judge(
  protocol: Protocol,
  sales: Sales,
  final: () => Promise<unknown>,
): Promise<Verdict> {
  const { from, below } = sales.taken();
  const read = async (): Promise<Verdict> => {
    const counts = new Map<bigint, number>();
    const newest = await protocol.client.getBlockNumber({ cacheTime: 0 });
    for (const coverage of await coveragesIn(protocol, 0n, newest))
      counts.set(coverage, (counts.get(coverage) ?? 0) + 1);
    const bought = [...counts].filter(([coverage]) => coverage >= from && coverage < below);
    const keys = Number(below - from);
    return {
      keys,
      lost: keys - bought.length,
      twice: bought.filter(([, count]) => count > 1).length,
      strange: counts.size - bought.length,
    };
  };
  try {
    await waitFor({
      what: "each key to have a policy",
      probe: async () => (await read()).lost === 0 || undefined,
      intervalMs: 2000,
      timeoutMs: 60_000,
    });
    await final();
  } catch (error) {
    console.error(error);
  }
  return read();
}
