/** A random walk of prices, purchases, observations, pauses and outages, in blocks of several calls. A seed decides it. */
import fc from "fast-check";
import type { Address } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { mockSequencerFeedAbi } from "../../../abis/MockSequencerFeed.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { type Call, call, takeOverMining } from "../../../bench/miner.ts";
import { upkeepCalldata } from "../../../lib/chain/trigger.ts";
import type { DuePolicy } from "../../../lib/indexed/due.ts";
import { catalogueTerms, termsOf } from "../../../scripts/local/protocol/terms.ts";
import type { TestChain } from "../../support/chain.ts";
import * as act from "../../support/protocol-actions.ts";

const USDC = 1_000_000n;
const DRAWS = 20_000;
/** How far ahead of its block a round's time is, at most. */
const AHEAD = 1_800n;
/** Each price falls by up to a fifth below the first one: between the trigger prices of all products and above them. */
const FIRST_PRICES = { BTC: 60_000_00000000n, ETH: 3_000_00000000n } as const;

export type PriceWalk = {
  readonly protocol: act.Protocol;
  readonly random: (below: number) => number;
  /** Mines one block of random calls. `due` are the policies that can be observed. */
  readonly step: (due: readonly DuePolicy[]) => Promise<void>;
  /** Mines one block of these calls, in their order. */
  readonly mine: (calls: readonly Call[]) => Promise<void>;
  readonly purchase: (name?: string) => Call;
  readonly push: (symbol: "BTC" | "ETH", price: bigint) => Call;
  /**
   * Mines a block that ends pause and outage, and refreshes the token's price: from now on policies can be bought. No earlier
   * round has a later time than this block: the rounds that a test pushes next are the newest ones.
   */
  readonly calm: () => Promise<void>;
  /** Replaces the newest blocks by empty ones, and mines another at the time of the newest or later: time does not go back. */
  readonly reorganise: (depth: number) => Promise<void>;
};

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the deployment lacks an optional contract");
  return value;
}

/** Prepares a chain that was deployed with `retired: false`, and takes over its mining. The owner sends every call. */
export async function startPriceWalk(chain: TestChain, seed: number): Promise<PriceWalk> {
  const { owner, client, deployment } = chain;
  const { contracts } = deployment;
  const pauseRegistry = required(contracts.pauseRegistry);
  const shieldKeeper: Address = required(contracts.shieldKeeper);
  const protocol = act.openProtocol(deployment, chain.url);
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: DRAWS });
  let next = 0;
  const random = (below: number): number => {
    next = (next + 1) % DRAWS;
    return (draws[next] ?? 0) % below;
  };
  await act.mintUsdc(protocol, owner, owner.address, 100_000_000n * USDC);
  await act.approveUsdc(protocol, owner, contracts.coverRouter);
  await act.refreshFeeds(protocol, owner);
  // No reorganisation may revert the owner's funds.
  await client.mine({ blocks: 10 });
  let miner = await takeOverMining(protocol);
  const feedAddress = (symbol: "BTC" | "ETH") => act.feedOf(protocol, symbol);

  const push = (symbol: "BTC" | "ETH", price: bigint): Call =>
    call(owner, feedAddress(symbol), mockPriceFeedAbi, "push", price);
  const purchase = (name?: string): Call => {
    const terms =
      (name === undefined ? catalogueTerms[random(catalogueTerms.length)] : termsOf(name)) ??
      catalogueTerms[0];
    if (!terms) throw new Error("there are no products");
    const coverage = BigInt(100 + random(1_000)) * USDC;
    const args = [terms.productId, coverage, terms.asset] as const;
    return call(owner, contracts.coverRouter, coverRouterAbi, "purchasePolicy", ...args);
  };

  /** A round of a random price; one in six has another update time, up to two hours past and half an hour ahead. */
  function round(now: bigint): Call {
    const symbol = random(2) === 0 ? "BTC" : "ETH";
    const price = (FIRST_PRICES[symbol] * BigInt(10_000 - random(8) * 250)) / 10_000n;
    if (random(6) > 0) return push(symbol, price);
    const updatedAt = now - 7_200n + BigInt(random(7_200 + Number(AHEAD)));
    return call(owner, feedAddress(symbol), mockPriceFeedAbi, "pushRound", price, updatedAt);
  }

  /** A rare event: the global pause, an outage, its end, or a marked policy. */
  function disturbance(now: bigint): Call {
    const terms = catalogueTerms[random(catalogueTerms.length)];
    const key = [terms?.productId, BigInt(1 + random(8))] as const;
    switch (random(5)) {
      case 0:
        return call(owner, pauseRegistry, globalPauseRegistryAbi, "setGlobalPause", true);
      case 1:
        return call(owner, contracts.sequencerFeed, mockSequencerFeedAbi, "setStatus", true, now);
      case 2:
        return call(owner, contracts.policyManager, policyManagerAbi, "markExpired", ...key);
      default:
        return restoration(now);
    }
  }
  /** Ends pause and outage; the sequencer has been up for an hour, or exactly for the grace period. */
  const restoration = (now: bigint): Call =>
    random(2) === 0
      ? call(owner, pauseRegistry, globalPauseRegistryAbi, "setGlobalPause", false)
      : call(
          owner,
          contracts.sequencerFeed,
          mockSequencerFeedAbi,
          "setStatus",
          false,
          now - 3_590n - BigInt(random(20)),
        );

  const observe = (productId: DuePolicy["productId"], policyIds: readonly bigint[]): Call => ({
    ...{ from: owner, to: shieldKeeper, data: upkeepCalldata(productId, policyIds) },
  });
  /** Half of the time some of the due policies of one product, now and then any of its policies: some fail, reset or expire. */
  function observations(due: readonly DuePolicy[]): Call[] {
    const chosen = due[random(due.length || 1)];
    if (chosen && random(2) === 0) {
      const alike = due.filter(({ productId }) => productId === chosen.productId).slice(0, 1 + random(4));
      return [
        observe(
          chosen.productId,
          [chosen, ...alike].map(({ policyId }) => policyId),
        ),
      ];
    }
    const terms = catalogueTerms[random(catalogueTerms.length)];
    return terms && random(4) === 0
      ? [observe(terms.productId, [BigInt(1 + random(5)), BigInt(1 + random(5))])]
      : [];
  }

  /** Seconds until the next block, beyond the interval: to the next observation, past the dwell, until rounds are stale and policies end. */
  const pause = (): bigint => {
    if (random(12) === 0) return 1_800n + BigInt(random(100));
    if (random(4) === 0) return 290n + BigInt(random(20));
    return random(2) === 0 ? 50n + BigInt(random(20)) : 0n;
  };

  return {
    protocol,
    random,
    push,
    purchase,
    mine: (calls) => miner.mine(calls),
    async calm() {
      const now = (await act.chainTime(protocol)) + AHEAD;
      await act.nextBlockAt(protocol, now);
      await miner.mine([
        call(owner, pauseRegistry, globalPauseRegistryAbi, "setGlobalPause", false),
        call(owner, contracts.sequencerFeed, mockSequencerFeedAbi, "setStatus", false, now - 7_200n),
      ]);
    },
    async step(due) {
      const now = await act.chainTime(protocol);
      const calls: Call[] = [];
      const seconds = pause();
      if (seconds > 0n) await act.nextBlockAt(protocol, now + seconds);
      for (let i = 0; i < 2 + random(4); i++) calls.push(random(3) === 0 ? purchase() : round(now));
      if (random(6) === 0) calls.push(disturbance(now));
      if (random(4) === 0) calls.push(restoration(now));
      // Before or after the block's rounds.
      const observing = observations(due);
      await miner.mine(random(2) === 0 ? [...observing, ...calls] : [...calls, ...observing]);
    },
    async reorganise(depth) {
      const before = await act.chainTime(protocol);
      await client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
        method: "anvil_reorg",
        params: [depth, []],
      });
      miner = await takeOverMining(protocol);
      if ((await act.chainTime(protocol)) < before) await act.nextBlockAt(protocol, before);
      await miner.mine([]);
    },
  };
}
