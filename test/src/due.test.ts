/**
 * Proves that at every block the index knows the strike of each policy, its observations, and which policies are due: exactly those that
 * the contracts would observe in the next block; that the keeper finds the same ones on the chain without the index, and that the
 * events of due policies are exactly those that the chain's logs yield. Prices, purchases and observations are random; `DUE_SEED`
 * repeats those of an earlier run.
 */
import { drizzle } from "drizzle-orm/postgres-js";
import { beforeAll, expect, test } from "vitest";
import { mockAggregatorAbi } from "../../abis/MockAggregator.ts";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { call } from "../../bench/miner.ts";
import { type DuePolicy, readDue } from "../../lib/indexed/due.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { drawSeed } from "../support/seed.ts";
import { expectDueEvents } from "../workers/support/due-events.ts";
import { type OutboxWorld, startOutboxWorld } from "../workers/support/outbox.ts";
import { expectPolicies } from "./support/compare-with-chain.ts";
import { dueByForce } from "./support/due-by-force.ts";
import { type PriceWalk, startPriceWalk } from "./support/price-walk.ts";
import type { Rows } from "./support/rows.ts";

const seed = drawSeed("DUE_SEED");
const BLOCKS = 40;
/** After every so many blocks the newest ones are replaced. */
const REORGANISE_EVERY = 10;
/** Ponder restarts within two seconds, or within a minute while other tests use both cores. */
const slowMs = 240_000;

let chain: TestChain;
let walk: PriceWalk;
let world: OutboxWorld;
let rows: Rows;
let cover: CoverChain;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  cover = openCoverChain(chain.deployment, chain.url);
  walk = await startPriceWalk(chain, seed);
  world = await startOutboxWorld(chain);
  ({ rows } = world);
  await world.subscribe(chain.owner.address, { events: ["policy_due"] });
  world.start({ holdMs: 60_000 });
});

/** The due policies at the chain's newest block, by the index. */
async function dueNow(): Promise<readonly DuePolicy[]> {
  await rows.caughtUp(chain.client, slowMs);
  const found = await drizzle(world.connection.sql, { casing: "snake_case" }).transaction(readDue, {
    isolationLevel: "repeatable read",
  });
  expect(found?.head.hash).toBe((await chain.client.getBlock()).hash);
  return found?.policies ?? [];
}

/** As `readDue`: third observations first, then by the last moment. */
const byUrgency = (a: DuePolicy, b: DuePolicy): number =>
  Number(a.observation < 3) - Number(b.observation < 3) ||
  Number(lastMomentOf(a) - lastMomentOf(b)) ||
  a.productId.localeCompare(b.productId) ||
  Number(a.policyId - b.policyId);
const lastMomentOf = ({ expiresAt, observation }: DuePolicy) => expiresAt - 60n * (3n - BigInt(observation));

const lowerCase = ({ shield, buyer, ...policy }: DuePolicy) => ({
  ...policy,
  shield: shield?.toLowerCase(),
  buyer: buyer.toLowerCase(),
});

/**
 * Expects the index to name exactly the policies that the contracts would observe, the most urgent first, and the chain alone to name
 * the same ones in the same order.
 */
async function expectDue(): Promise<readonly DuePolicy[]> {
  const due = await dueNow();
  const slow = await dueFromChain(cover);
  expect(slow.policies.map(lowerCase)).toEqual(due.map(lowerCase));
  expect(due).toEqual(due.toSorted(byUrgency));
  expect(due.map(({ lastMoment }) => lastMoment)).toEqual(due.map(lastMomentOf));
  const named = due.map(({ productId, policyId }) => `${productId} ${policyId}`).sort();
  expect(named).toEqual(await dueByForce(chain));
  return due;
}

test(`at every block the due policies are those that the contracts would observe, and each has one event (DUE_SEED=${seed})`, async () => {
  let due: readonly DuePolicy[] = [];
  let mostEvents = 0;
  const observations = new Set<number>();
  // A few walks have no third observation so soon.
  for (let block = 1; block <= (observations.size < 3 || mostEvents === 0 ? 5 : 1) * BLOCKS; block++) {
    await walk.step(due);
    due = await expectDue();
    for (const { observation } of due) observations.add(observation);
    if (block % REORGANISE_EVERY > 0) continue;
    mostEvents = Math.max(mostEvents, await expectDueEvents(world));
    await walk.reorganise(1 + walk.random(6));
    due = await expectDue();
    await chain.client.mine({ blocks: 7 });
    await expectDueEvents(world);
  }
  expect(mostEvents).toBeGreaterThan(0);
  expect([...observations].sort()).toEqual([1, 2, 3]);
  await expectPolicies(rows, chain);
  const events = await world.events();
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test("a policy's strike is the price before its purchase, also when the price moves in the same block", async () => {
  const { mine, push, purchase, calm } = walk;
  const [before, between, after] = [61_000_00000000n, 59_123_45678901n, 58_000_00000000n];
  await calm();
  const buy = () => purchase("FLASHBTC24-001");
  await mine([push("BTC", before), buy(), push("BTC", between), buy(), buy(), push("BTC", after), buy()]);
  await rows.caughtUp(chain.client, slowMs);
  const newest = await rows.sql<{ strike: string }[]>`
    select strike from indexer.policy order by block_number desc, log_index desc limit 4`;
  const scaled = [before, between, between, after].map((price) => String(price * 10n ** 10n));
  expect(newest.map(({ strike }) => strike).reverse()).toEqual(scaled);
  await expectPolicies(rows, chain);
});

test("a new phase of a feed counts from the log with which it begins, also for events, and the next start of the indexer indexes its rounds", async () => {
  const { owner, deployment } = chain;
  const feed = deployment.contracts.btcUsdFeed;
  const { mine, push, purchase, calm } = walk;
  const buy = () => purchase("FLASHBTC48-001");
  const child = await world.stack.restart("indexer");
  await calm();
  await mine([call(owner, feed, mockPriceFeedAbi, "proposeAggregator")]);
  const aggregator = await chain.client.readContract({
    abi: mockPriceFeedAbi,
    address: feed,
    functionName: "proposedAggregator",
  });
  const { timestamp } = await chain.client.getBlock();
  const early = (price: bigint, updatedAt: bigint) =>
    call(owner, aggregator, mockAggregatorAbi, "push", price, updatedAt);
  const confirm = call(owner, feed, mockPriceFeedAbi, "confirmAggregator");
  await chain.client.setNextBlockTimestamp({ timestamp: timestamp + 2n });
  await mine([push("BTC", 60_000_00000000n), buy(), early(50_000_00000000n, timestamp), buy()]);
  // After the dwell of both policies.
  const then = timestamp + 310n;
  await chain.client.setNextBlockTimestamp({ timestamp: then });
  await mine([early(60_500_00000000n, then), buy(), early(48_000_00000000n, then), confirm, buy()]);
  const begin = await chain.client.getBlock();
  let exit: Awaited<typeof child.exited> | undefined;
  void child.exited.then((end) => {
    exit = end;
  });
  // The next build, beside this one, is shown once it has read a block that is mined meanwhile.
  await waitFor({
    what: "the build without the phase's rounds to end",
    probe: async () => {
      await mine([]);
      return exit;
    },
    timeoutMs: slowMs,
    intervalMs: 1_000,
  });
  expect(exit).toEqual({ code: 4, signal: null });
  // As when the old build has indexed many more blocks before it ended: the phase's block is final for the outbox.
  await world.connection.sql`
    update service.outbox set version = version + 1, final_block = ${String(begin.number)}::bigint,
      processed_block = ${String(begin.number)}::bigint, final_time = ${String(begin.timestamp)}::bigint`;
  await world.stack.restart("indexer");
  await rows.caughtUp(chain.client, slowMs);
  await expectPolicies(rows, chain);
  const newest = await rows.sql<{ strike: string }[]>`
      select strike from indexer.policy order by block_number desc, log_index desc limit 4`;
  expect(newest.map(({ strike }) => strike.slice(0, 3)).reverse()).toEqual(["600", "600", "600", "480"]);
  // The round before the phase began counts: the feed answers it now.
  expect((await expectDue()).length).toBeGreaterThanOrEqual(2);
  // No later round is low, so that only a look at all open policies finds those that are due.
  await mine([push("BTC", 60_000_00000000n)]);
  await expectDueEvents(world);
  const events = (await world.events()).filter(({ type }) => type === "policy_due");
  // Both policies of the block before.
  expect(events.filter(({ blockHash }) => blockHash === begin.hash).length).toBeGreaterThanOrEqual(2);
  const delivered = (await world.deliveries()).filter(({ type }) => type === "policy_due");
  expect(delivered.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
});
