/**
 * What this proves: over random prices, purchases, triggers, pauses and reorganisations of the real contracts, the events of
 * due policies are exactly those that the chain's logs yield, also where a feed changes its aggregator. `DUE_SEED` repeats an
 * earlier run.
 */
import { drizzle } from "drizzle-orm/postgres-js";
import { beforeAll, expect, test } from "vitest";
import { mockAggregatorAbi } from "../../abis/MockAggregator.ts";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { call } from "../../bench/miner.ts";
import { readDue } from "../../lib/indexed/due.ts";
import { type PriceWalk, startPriceWalk } from "../src/support/price-walk.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { dueOnChain } from "../support/due-on-chain.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const seed = Number(process.env.DUE_SEED || Math.floor(Math.random() * 2 ** 31));
const BLOCKS = 60;
/** After every so many blocks the newest ones are replaced. */
const REORGANISE_EVERY = 12;

let chain: TestChain;
let walk: PriceWalk;
let world: OutboxWorld;

beforeAll(async () => {
  console.log(`DUE_SEED=${seed}`);
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  walk = await startPriceWalk(chain, seed);
  world = await startOutboxWorld(chain);
  await world.subscribe(chain.owner.address, { events: ["policy_due"] });
  world.start({ holdMs: 60_000 });
});

/** The policies that `submitTrigger` would pay now. */
async function dueNow() {
  await world.rows.caughtUp(chain.client);
  const db = drizzle(world.connection.sql, { casing: "snake_case" });
  return (await db.transaction(readDue, { isolationLevel: "repeatable read" }))?.policies ?? [];
}

/** The stored events of due policies that are not reverted, in any order. */
async function stored() {
  const events = await world.events();
  return events
    .filter(({ type, reverted }) => type === "policy_due" && !reverted)
    .map(({ blockNumber, blockHash, txHash, body: { data } }) => {
      const { productId, policyId, rounds, prices, triggerPrice, dueAt } = data;
      const event = { productId, policyId, rounds, prices, triggerPrice, dueAt };
      return JSON.stringify({ blockNumber, blockHash, txHash, ...event });
    })
    .sort();
}

/** The same by the chain's logs. */
async function wanted() {
  const due = await dueOnChain(chain);
  return due
    .map(({ blockNumber, blockHash, transactionHash: txHash, productId, policyId, ...event }) => {
      const [rounds, prices] = [event.rounds.map(String), event.prices.map(String)];
      const { triggerPrice, dueAt } = event;
      return JSON.stringify({
        ...{ blockNumber: Number(blockNumber), blockHash, txHash, productId, policyId: String(policyId) },
        ...{ rounds, prices, triggerPrice: String(triggerPrice), dueAt: String(dueAt) },
      });
    })
    .sort();
}

async function expectEventsOfChain(): Promise<number> {
  await world.processed();
  const due = await wanted();
  await expect.poll(stored).toEqual(due);
  return due.length;
}

test(`each policy that the logs make due has one event (DUE_SEED=${seed})`, async () => {
  let most = 0;
  // A few walks have no due policy so soon.
  for (let block = 1; block <= (most === 0 ? 5 : 1) * BLOCKS; block++) {
    await walk.step(await dueNow());
    if (block % REORGANISE_EVERY > 0) continue;
    most = Math.max(most, await expectEventsOfChain());
    await walk.reorganise(1 + walk.random(6));
    await chain.client.mine({ blocks: 7 });
    await expectEventsOfChain();
  }
  expect(most).toBeGreaterThan(0);
  const events = await world.events();
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test("rounds of a new aggregator count from the log that began its phase, even if it was final before the index knew them", async () => {
  const { owner, deployment } = chain;
  const feed = deployment.contracts.btcUsdFeed;
  const { mine, push, purchase, calm } = walk;
  const child = await world.stack.restart("indexer");
  await calm();
  await mine([call(owner, feed, mockPriceFeedAbi, "proposeAggregator")]);
  const aggregator = await chain.client.readContract({
    abi: mockPriceFeedAbi,
    address: feed,
    functionName: "proposedAggregator",
  });
  await mine([push("BTC", 60_000_00000000n), purchase("FLASHBTC48-001"), purchase("FLASHBTC24-001")]);
  const { timestamp } = await chain.client.getBlock();
  const early = (price: bigint) => call(owner, aggregator, mockAggregatorAbi, "push", price, timestamp + 1n);
  await mine([early(50_000_00000000n), early(49_000_00000000n), early(48_000_00000000n)]);
  await expectEventsOfChain();
  const before = (await stored()).length;
  await mine([call(owner, feed, mockPriceFeedAbi, "confirmAggregator")]);
  const begin = await chain.client.getBlock();
  expect(await child.exited).toEqual({ code: 4, signal: null });
  // As when the old build has indexed many more blocks before it ended.
  await world.connection.sql`
    update service.outbox set pass = pass + 1, final_block = ${String(begin.number)}::bigint,
      passed_block = ${String(begin.number)}::bigint, final_time = ${String(begin.timestamp)}::bigint`;
  await world.stack.restart("indexer");
  // No later round is low, so that only a look at all open policies finds those that are due.
  await mine([push("BTC", 60_000_00000000n)]);
  expect(await expectEventsOfChain()).toBeGreaterThanOrEqual(before + 2);
  const found = (await world.events()).filter(({ blockHash }) => blockHash === begin.hash);
  expect(found.length).toBeGreaterThanOrEqual(2);
  const delivered = (await world.deliveries()).filter(({ type }) => type === "policy_due");
  const due = (await world.events()).filter(({ type }) => type === "policy_due");
  expect(delivered.map(({ seq }) => seq)).toEqual(due.map(({ seq }) => seq));
});
