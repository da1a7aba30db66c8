/**
 * What this proves: how long an observation had been possible when it was mined is counted by the times of the blocks, once for each
 * observation, whoever made it: from the first round of the present fall or the first newer one, but not within five minutes of the
 * purchase, a minute of the observation before, or an hour of an outage.
 */
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import * as indexed from "../../ponder.schema.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { readDueToMined } from "../../workers/keeper/watch.ts";
import { openRows, type Rows, VIEWS_SCHEMA } from "../src/support/rows.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { hour, upkeep } from "../support/policy-fates.ts";
import * as act from "../support/protocol-actions.ts";
import { startStack } from "../support/stack.ts";

const HIGH = 60_000_00000000n;
/** Below the barrier of an hour's cover. */
const LOW = 58_000_00000000n;

let chain: TestChain;
let protocol: act.Protocol;
let rows: Rows;
let index: PostgresJsDatabase;
let since: bigint | undefined;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  protocol = openProtocol(chain.deployment, chain.url);
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 10_000_000_000n);
  await act.approveUsdc(protocol, chain.owner, chain.deployment.contracts.coverRouter);
  const { databaseUrl } = await startStack({ chain, services: ["indexer"] });
  rows = openRows(databaseUrl);
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(async () => {
    await Promise.all([rows.close(), connection.close()]);
  });
  readFrom(indexed, VIEWS_SCHEMA);
  index = drizzle(connection.sql, { casing: "snake_case" });
});

/** The seconds of the observations since the last look, in any order. */
async function measured(): Promise<readonly number[] | undefined> {
  await rows.caughtUp(chain.client);
  const found = await readDueToMined(index, since);
  since = found?.until;
  return found && [...found.seconds].sort((a, b) => a - b);
}

const in_ = async (seconds: bigint) => act.nextBlockAt(protocol, (await act.chainTime(protocol)) + seconds);

/** A round in a block so many seconds after the newest. */
async function push(seconds: bigint, price: bigint): Promise<void> {
  await in_(seconds);
  await act.pushPrice(protocol, chain.owner, "BTC", price);
}
/** Observes policies in a block so many seconds after the newest. */
async function observe(seconds: bigint, ...policyIds: bigint[]): Promise<void> {
  await in_(seconds);
  await upkeep(chain, policyIds);
}
async function buy(): Promise<bigint> {
  const startedAt = (await act.chainTime(protocol)) - 7_200n;
  await act.setSequencer(protocol, chain.owner, { down: false, startedAt });
  await push(10n, HIGH);
  return (await act.purchase(protocol, chain.owner, hour, 1_000_000_000n)).policyId;
}

beforeEach(async () => {
  await measured();
});

test("from the end of the dwell, a minute after the one before, or the newer round; once", async () => {
  const policy = await buy();
  await push(100n, LOW);
  await observe(250n, policy);
  await push(20n, LOW);
  await observe(50n, policy);
  await push(100n, LOW);
  await push(3n, LOW);
  await observe(4n, policy);
  expect(await measured()).toEqual([7, 10, 50]);
  expect(await measured()).toEqual([]);
  since = undefined;
  expect(await measured()).toEqual([]);
});

test("two policies of one call: each by its own purchase", async () => {
  const first = await buy();
  await in_(100n);
  const second = await buy();
  await push(250n, LOW);
  await observe(60n, first, second);
  const [a = 0, b = 0] = (await measured()) ?? [];
  expect(b).toBe(60);
  expect(a).toBeLessThan(20);
});

test("only the present fall counts, and a reset is no observation", async () => {
  const policy = await buy();
  await push(400n, LOW);
  await push(50n, HIGH);
  await push(50n, LOW);
  await push(10n, LOW);
  await observe(5n, policy);
  expect(await measured()).toEqual([15]);
  await push(70n, HIGH);
  await observe(5n, policy);
  expect(await measured()).toEqual([]);
  await push(70n, LOW);
  await observe(8n, policy);
  expect(await measured()).toEqual([8]);
});

test("after an outage of the sequencer the hour of grace is no delay", async () => {
  const policy = await buy();
  await push(400n, LOW);
  const startedAt = (await act.chainTime(protocol)) - 3_500n;
  await act.setSequencer(protocol, chain.owner, { down: false, startedAt });
  await act.nextBlockAt(protocol, startedAt + 3_612n);
  await upkeep(chain, [policy]);
  expect(await measured()).toEqual([12]);
});
