/** How the launcher finds the aggregators of the feeds, on nodes that can tell more or less of the past. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { createReadClient } from "../../../lib/chain/client.ts";
import { assetBytes32 } from "../../../lib/products.ts";
import { findFeeds, firstPast } from "../../../scripts/indexer/price-feeds.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

let chain: TestChain;
let rpc: RpcProxy;
/** The aggregators of BTC's two phases, and the block in which the second one began. */
let aggregators: string[];
let movedIn: number;

beforeAll(async () => {
  chain = await startChain();
  rpc = await startRpcProxy(chain.url);
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const feed = { abi: mockPriceFeedAbi, address: chain.deployment.contracts.btcUsdFeed } as const;
  const first = await chain.client.readContract({ ...feed, functionName: "aggregator" });
  for (let i = 0; i < 5; i++) await act.pushPrice(protocol, chain.owner, "BTC", 60_000_00000000n);
  const second = await act.proposeAggregator(protocol, chain.owner, "BTC");
  await act.refreshFeeds(protocol, chain.owner);
  movedIn = Number((await act.confirmAggregator(protocol, chain.owner, "BTC")).blockNumber);
  await act.refreshFeeds(protocol, chain.owner);
  aggregators = [first, second];
});
beforeEach(() => rpc.intercept());

const refusal = { error: { code: -32000, message: "missing trie node" } };
const find = (warn: (text: string) => void = () => {}) =>
  findFeeds(
    createReadClient(chain.deployment, rpc.url),
    chain.deployment.contracts,
    chain.deployment.startBlock,
    warn,
  );
const phasesOfBitcoin = async (warn?: (text: string) => void) =>
  (await find(warn)).prices.find(({ asset }) => asset === assetBytes32("BTC"))?.phases;
const phases = (...since: (number | null)[]) =>
  aggregators.map((aggregator, index) => ({ phase: index + 1, aggregator, since: since[index] }));

test("phases that the proxy announces begin with their log", async () => {
  expect(await phasesOfBitcoin()).toEqual(phases(null, null));
  const { sequencer, prices } = await find();
  expect(sequencer.aggregators).toEqual([chain.deployment.contracts.sequencerFeed]);
  expect(prices.map(({ phases: all }) => all.length)).toEqual([2, 1]);
});

test("other phases begin in the block in which the proxy's state changed", async () => {
  rpc.intercept(async (call, forward) => (call.method === "eth_getLogs" ? { result: [] } : forward()));
  expect((await phasesOfBitcoin())?.at(1)).toEqual(phases(null, movedIn).at(1));
  rpc.intercept(async (call, forward) => (call.method === "eth_getLogs" ? refusal : forward()));
  expect((await phasesOfBitcoin())?.at(1)).toEqual(phases(null, movedIn).at(1));
});

test("without old states all phases count from the first block, with a warning", async () => {
  rpc.intercept(async (call, forward) => {
    if (call.method === "eth_getLogs") return { result: [] };
    if (call.method === "eth_call" && call.params[1] !== "latest") return refusal;
    return forward();
  });
  const warnings: string[] = [];
  const { firstBlock } = await find();
  expect(await phasesOfBitcoin((text) => warnings.push(text))).toEqual(phases(firstBlock, firstBlock));
  expect(warnings.length).toBeGreaterThan(0);
});

test("a node that does not answer is an error, so that the launcher tries again", async () => {
  rpc.intercept(async () => "lost");
  await expect(find()).rejects.toThrow();
});

test("the search finds the first number past a change", async () => {
  for (const change of [1n, 2n, 7n, 63n, 64n]) {
    expect(await firstPast(0n, 64n, async (number) => number >= change)).toBe(change);
  }
});
