/**
 * What this proves: how long a policy had been due when it was triggered is counted by the times of the blocks, from its third round, or an
 * hour after a later outage of the sequencer, and once for each policy.
 */
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { connect } from "../../lib/db/connect.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import { SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import * as indexed from "../../ponder.schema.ts";
import { readDueToMined } from "../../workers/keeper/due-to-mined.ts";
import { type EmitterChain, entry, startEmitterChain } from "../src/support/emitter-chain.ts";
import { openRows, type Rows, VIEWS_SCHEMA } from "../src/support/rows.ts";
import { atEnd } from "../support/cleanup.ts";
import { startStack } from "../support/stack.ts";
import { type DuePolicies, openDuePolicies } from "./support/due-policies.ts";

let chain: EmitterChain;
let policies: DuePolicies;
let rows: Rows;
let index: PostgresJsDatabase;
let since: bigint | undefined;

beforeAll(async () => {
  chain = await startEmitterChain();
  policies = openDuePolicies(chain, anvilAccount(5).address);
  const { databaseUrl } = await startStack({ chain, services: ["indexer"] });
  rows = openRows(databaseUrl);
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(async () => {
    await Promise.all([rows.close(), connection.close()]);
  });
  readFrom(indexed, VIEWS_SCHEMA);
  index = drizzle(connection.sql, { casing: "snake_case" });
});

/** The seconds of the policies that were triggered since the last look, in any order. */
async function measured(): Promise<readonly number[] | undefined> {
  await rows.caughtUp(chain.client);
  const found = await readDueToMined(index, since);
  since = found?.until;
  return found && [...found.seconds].sort((a, b) => a - b);
}
/** Buys a policy and lets the price fall three times. */
async function buyAndFall(): Promise<bigint> {
  const policyId = await policies.buy();
  for (let round = 0; round < 3; round += 1) await policies.fall();
  return policyId;
}
/** Triggers policies in a block this long after the newest. */
const trigger = (seconds: bigint, ...ids: bigint[]) =>
  policies.block(() => ids.map((id) => policies.triggered(id)), seconds);

beforeEach(async () => {
  await measured();
});

test("from the third round's block to the trigger's, once; without an earlier look nothing is counted", async () => {
  const [first, second] = [await policies.buy(), await policies.buy()];
  for (let round = 0; round < 3; round += 1) await policies.fall();
  await policies.fall();
  await trigger(10n, first);
  await trigger(60n, second);
  // The fourth round fell two seconds after the third.
  expect(await measured()).toEqual([12, 72]);
  expect(await measured()).toEqual([]);
  since = undefined;
  expect(await measured()).toEqual([]);
});

test("after an outage of the sequencer the hour of grace is no delay, nor the wait for a young round", async () => {
  const grace = BigInt(SEQUENCER_GRACE);
  const status = (current: bigint, updatedAt: bigint) =>
    entry(chain.contracts.sequencerFeed, priceAggregatorAbi, "AnswerUpdated", {
      ...{ current, roundId: updatedAt, updatedAt },
    });
  const outage = async () => {
    await policies.block((now) => [status(1n, now)]);
    await policies.block((now) => [status(0n, now)], 100n);
  };
  const first = await buyAndFall();
  await outage();
  await policies.fall(grace - 10n);
  await trigger(15n, first);
  expect(await measured()).toEqual([5]);

  const second = await buyAndFall();
  await outage();
  await policies.fall(grace + 300n);
  await trigger(8n, second);
  expect(await measured()).toEqual([8]);
});

test("a trigger without rounds that the index knows is not counted", async () => {
  await trigger(5n, await policies.buy());
  expect(await measured()).toEqual([]);
});
