/** Moving a price on a local chain: a round, or three with a clock that moves on, whose observations pay a policy. */
import { beforeAll, expect, test } from "vitest";
import { priceAggregatorAbi } from "../../../abis/PriceAggregator.ts";
import { createReadClient } from "../../../lib/chain/client.ts";
import { phaseAggregators } from "../../../lib/chain/feed-phases.ts";
import { openWallet, type Wallet } from "../../../scripts/dev/running-stack.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { changedPrice } from "../../../scripts/price/arguments.ts";
import { letFall, movePrice } from "../../../scripts/price/move-price.ts";
import { latestRoundOf, roundSource } from "../../../scripts/price/round-source.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { observationsOf } from "../../support/falls.ts";
import { closeFeeds } from "../../support/live-likeness.ts";
import * as act from "../../support/protocol-actions.ts";

let chain: TestChain;
let wallet: Wallet;
beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  wallet = openWallet(chain.url, chain.owner);
});

/** A policy of a day's cover, bought now, with a trigger at 6 %. */
async function buy() {
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const product = termsOf("FLASHBTC24-001");
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 1_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
  await act.refreshFeeds(protocol, chain.owner);
  return {
    ...{ protocol, product },
    policyId: (await act.purchase(protocol, chain.owner, product, 100_000_000n)).policyId,
  };
}

test("a fall of 7 % that lasts three rounds pays a policy with a trigger at 6 %, and the price stays", async () => {
  const { btcUsdFeed } = chain.deployment.contracts;
  const { protocol, product, policyId } = await buy();
  const before = await latestRoundOf(wallet, btcUsdFeed);
  const price = changedPrice(before.price, { kind: "relative", hundredths: -700n });
  const counts: number[] = [];
  const rounds = await letFall(wallet, btcUsdFeed, price, async () => {
    await act.observe(protocol, chain.owner, product, [policyId]);
    counts.push(await observationsOf(protocol, product, policyId));
    return true;
  });
  expect(counts).toEqual([1, 2, 3]);
  expect(rounds.map((round) => round.price)).toEqual([price, price, price]);
  expect(rounds.map(({ roundId }) => roundId - before.roundId)).toEqual([1n, 2n, 3n]);
  const times = [before, ...rounds].map(({ updatedAt }) => updatedAt);
  expect(new Set(times).size).toBe(4);
  expect(times).toEqual([...times].sort((a, b) => Number(a - b)));
  await act.refreshFeeds(protocol, chain.owner); // as the dev stack does
  expect((await latestRoundOf(wallet, btcUsdFeed)).price).toBe(price);
});

test("a fall that makes nothing due is one round", async () => {
  const { btcUsdFeed } = chain.deployment.contracts;
  const { price } = await latestRoundOf(wallet, btcUsdFeed);
  expect(await letFall(wallet, btcUsdFeed, price - 1n, async () => false)).toMatchObject([
    { price: price - 1n },
  ]);
});

test("a feed that takes rounds from its network alone gets an aggregator that takes ours, and goes on from its newest round", async () => {
  await closeFeeds(chain);
  const { ethUsdFeed: feed, usdc } = chain.deployment.contracts;
  const before = await latestRoundOf(wallet, feed);
  await roundSource(wallet, feed);
  expect(await latestRoundOf(wallet, feed)).toEqual(before);
  const { roundId, price, blockNumber } = await movePrice(wallet, feed, before.price + 1n);
  expect([roundId, price]).toEqual([before.roundId + 1n, before.price + 1n]);
  const [{ aggregator } = { aggregator: feed }] = (
    await phaseAggregators(createReadClient(chain.deployment, chain.url), feed)
  ).slice(-1);
  const logs = await wallet.getContractEvents({
    ...{ address: aggregator, abi: priceAggregatorAbi, eventName: "AnswerUpdated", fromBlock: blockNumber },
  });
  expect(logs.map(({ args }) => args.current)).toEqual([before.price + 1n]);

  const code = await wallet.getCode({ address: usdc });
  await expect(movePrice(wallet, usdc, 1n)).rejects.toThrow(/latestRoundData/);
  expect(await wallet.getCode({ address: usdc })).toBe(code);
});
