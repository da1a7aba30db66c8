/** How the launcher finds the aggregators of the feeds, and the shields, on nodes that can tell more or less of the past. */
import { zeroAddress } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { mockPriceFeedAbi } from "../../../abis/MockPriceFeed.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { createReadClient } from "../../../lib/chain/client.ts";
import { firstPast } from "../../../lib/chain/feed-phases.ts";
import { assetBytes32 } from "../../../lib/products.ts";
import { findSources } from "../../../scripts/indexer/sources.ts";
import * as act from "../../../scripts/local/protocol/actions/index.ts";
import { allTerms, termsOf } from "../../../scripts/local/protocol/terms.ts";
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
  findSources(
    createReadClient(chain.deployment, rpc.url),
    chain.deployment,
    chain.deployment.startBlock,
    warn,
  );
const phasesOfBitcoin = async (warn?: (text: string) => void) =>
  (await find(warn)).prices.find(({ asset }) => asset === assetBytes32("BTC"))?.phases;
const phases = (...since: (number | null)[]) =>
  aggregators.map((aggregator, index) => ({ phase: index + 1, aggregator, since: since[index] }));

const withoutOldStates = (logs: typeof refusal | undefined) =>
  rpc.intercept(async (call, forward) => {
    // Of the manager the node tells in ranges of any size.
    const isOfManager = JSON.stringify(call.params).includes(chain.deployment.contracts.policyManager);
    if (call.method === "eth_getLogs" && logs && !isOfManager) return logs;
    const isOld = call.params[1] !== "latest";
    return isOld && ["eth_call", "eth_getBalance"].includes(call.method) ? refusal : forward();
  });

test("a phase counts from the block after the one in which the proxy's state changed, unless a log tells more", async () => {
  expect((await phasesOfBitcoin())?.at(1)).toEqual(phases(null, movedIn + 1).at(1));
  const { sequencer, prices } = await find();
  expect(sequencer.aggregators).toEqual([chain.deployment.contracts.sequencerFeed]);
  expect(prices.map(({ phases: all }) => all.length)).toEqual([2, 1]);
});

test("without old states phases begin with the logs of the proxy", async () => {
  withoutOldStates(undefined);
  expect(await phasesOfBitcoin()).toEqual(phases(null, null));
});

test("without old states and logs all phases count from the first block, with a warning", async () => {
  withoutOldStates(refusal);
  const warnings: string[] = [];
  const { firstBlock } = await find();
  expect(await phasesOfBitcoin((text) => warnings.push(text))).toEqual(phases(firstBlock, firstBlock));
  expect(warnings).toHaveLength(3);
});

test("a newer state that the node lacks for a moment is an error, not a reason to go by the logs", async () => {
  const { firstBlock } = await find();
  rpc.intercept(async (call, forward) => {
    const [, block] = call.params;
    const isNewer = typeof block === "string" && block.startsWith("0x") && BigInt(block) > firstBlock;
    return call.method === "eth_call" && isNewer ? refusal : forward();
  });
  await expect(find()).rejects.toThrow("missing trie node");
});

test.each([429, -32007, -32016])(
  "code %s, too many requests, is an error and no missing state",
  async (code) => {
    rpc.intercept(async (call, forward) =>
      call.method === "eth_call" && call.params[1] !== "latest"
        ? { error: { code, message: "over rate limit" } }
        : forward(),
    );
    await expect(find()).rejects.toThrow("over rate limit");
  },
);

test("a local chain, which forgets old states, tells by its logs", async () => {
  await chain.client.mine({ blocks: 300 });
  expect(await phasesOfBitcoin()).toEqual(phases(null, null));
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

test("every adapter that was ever registered is found with its shield, by logs and by the router's products", async () => {
  const { client, deployment, owner, url } = chain;
  const protocol = act.openProtocol(deployment, url);
  const before = (await find()).shields;
  expect(new Set(before.map(({ productId }) => productId))).toEqual(
    new Set(allTerms.map(({ productId }) => productId)),
  );
  const terms = termsOf("FLASHBTC1H-001");
  const adapter = await act.replaceAdapter(protocol, owner, terms);
  const after = (await find()).shields;
  expect(after).toHaveLength(before.length + 1);
  expect(after).toEqual(expect.arrayContaining(before));
  const shield = await client.readContract({
    abi: shieldAdapterAbi,
    address: adapter,
    functionName: "shield",
  });
  expect(after).toContainEqual({ productId: terms.productId, adapter, shield });
  await act.registerProduct(protocol, owner, terms.productId, owner.address);
  expect((await find()).shields).toContainEqual({
    ...{ productId: terms.productId, adapter: owner.address, shield: null },
  });
  await act.registerProduct(protocol, owner, terms.productId, adapter);
  // A start block after all registrations: the router names the products.
  const head = Number(await client.getBlockNumber());
  const reader = createReadClient(deployment, url);
  const { shields } = await findSources(reader, deployment, head, () => {});
  expect(shields.find(({ productId }) => productId === terms.productId)).toEqual({
    ...{ productId: terms.productId, adapter, shield },
  });
  expect(shields).toHaveLength(before.length);
});

test("prices at purchases are read from the lowest block that the node has the state of", async () => {
  const { client, deployment, url } = chain;
  const head = Number(await client.getBlockNumber());
  const reader = createReadClient(deployment, url);
  expect((await findSources(reader, deployment, head - 10, () => {})).statesFrom).toBe(head - 10);
  withoutOldStates(undefined);
  expect((await find()).statesFrom).toBe(head);
});

test("without an uptime feed the sequencer counts as up", async () => {
  const { deployment, url } = chain;
  const contracts = { ...deployment.contracts, sequencerFeed: zeroAddress };
  const reader = createReadClient(deployment, url);
  const { sequencer } = await findSources(
    reader,
    { ...deployment, contracts },
    deployment.startBlock,
    () => {},
  );
  expect(sequencer).toEqual({ aggregators: [], before: { up: true, startedAt: "1" } });
});
