/**
 * Proves that after a history with every event the rows match the chain's logs and views (`test/model` has crashes of the indexer
 * and reorganisations); and that the outbox stores each event of that history once and in chain order, its body agrees with the
 * chain's logs and views, and its deliveries go to the right subscriptions.
 */
import { beforeAll, expect, test } from "vitest";
import { eventTypes } from "../../lib/webhooks/events.ts";
import { exitCodes } from "../../scripts/indexer/exit-codes.ts";
import { snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { Outbox } from "../../workers/outbox/start.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { eventFaults, fetchOpenApi } from "../support/openapi.ts";
import { revertTo } from "../support/protocol-actions.ts";
import { expectedExpiries, expectedLogEvents } from "../workers/support/expected-events.ts";
import { type OutboxWorld, type StoredEvent, startOutboxWorld } from "../workers/support/outbox.ts";
import { startChangedIndexer, waitForOtherSchema } from "./support/changed-build.ts";
import { expectRowsMatchChain } from "./support/compare-with-chain.ts";
import { buyers, chapters, historyContext, replaceAdapter, trade } from "./support/history.ts";
import { knownEvents } from "./support/logs.ts";
import { type Rows, servedSchema, tableNames } from "./support/rows.ts";

let chain: TestChain;
/** Its indexer indexes the chain from its first block, through all faults. */
let world: OutboxWorld;
let rows: Rows;
let outbox: Outbox;
let events: StoredEvent[];
/** What '*' means: burns are of no wallet. */
const own = eventTypes.filter((type) => type !== "token_burned");
/** Each buyer's subscription to all events, and two of the first buyer, one of them to burns. */
const subscriptions: { id: number; wallet: string; types: readonly string[] }[] = [];

beforeAll(async () => {
  // Another build reads the token's price at every purchase.
  chain = await startChain({ retired: false, keptStates: 10_000 });
  world = await startOutboxWorld(chain);
  ({ rows } = world);
  for (const { address } of buyers) {
    subscriptions.push({ id: await world.subscribe(address), wallet: address, types: own });
  }
  const [{ address } = chain.owner] = buyers;
  for (const types of [["policy_expired"], ["policy_purchased", "token_burned"]]) {
    subscriptions.push({ id: await world.subscribe(address, { events: types }), wallet: address, types });
  }
  outbox = world.start();
  for (const chapter of chapters) {
    await chapter.play(historyContext(chain));
    // The outbox looks between the chapters, and what it stored then must be what the whole history tells.
    await world.processed();
  }
});

async function expectChainsRows(): Promise<void> {
  await rows.caughtUp(chain.client);
  await expectRowsMatchChain(rows, chain);
}
const reorganise = async (depth: number) => {
  // When a block disappears while Ponder reads it, Ponder asks for it for a minute.
  await rows.caughtUp(chain.client);
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, []],
  });
};

test("a live index matches the chain's logs, views and sums", async () => {
  await rows.caughtUp(chain.client);
  const known = await expectRowsMatchChain(rows, chain);
  const seen = new Set(known.map(({ name }) => name));
  expect(knownEvents.filter((name) => !seen.has(name))).toEqual([]);
  // No key of a policy comes twice while a product's adapter stays the same.
  for (const table of tableNames.filter((name) => name !== "replaced_policy")) {
    expect(await rows.rows(table), `${table} is empty`).not.toEqual([]);
  }
});

/** The fields of an event that the expectation has. */
const comparable = ({ type, parties, body }: StoredEvent) => {
  const { blockNumber, blockHash, txHash, createdAt, data } = body;
  return { type, parties, blockNumber, blockHash, txHash, createdAt, data };
};
const isExpiry = ({ type }: { type: string }) => type === "policy_expired";
/** The stored key of an event of this type. */
const keyOf = (type: string) => {
  if (type === "policy_expired") return /^expired:0x[0-9a-f]{64}:\d+$/;
  return type === "policy_due" ? /^due:0x[0-9a-f]{64}:\d+$/ : /^0x[0-9a-f]{64}:0x[0-9a-f]{64}:\d+$/;
};

test("every log and every expired policy has one event, in chain order, with the chain's data", async () => {
  await world.processed();
  // The outbox asks the node for the block of an expiry, and again a second later where that was too slow.
  const expected = await expectedExpiries(chain);
  events = await waitFor({
    what: "all expiries",
    probe: async () => {
      const all = await world.events();
      return all.filter(isExpiry).length >= expected.length ? all : undefined;
    },
  });
  const logs = events.filter((event) => !isExpiry(event));
  expect(logs.map(comparable)).toEqual(await expectedLogEvents(chain));
  const types = new Set(events.map(({ type }) => type));
  expect(eventTypes.filter((type) => !types.has(type))).toEqual(["policy_cancelled", "event_reverted"]);
  const byPolicy = (a: { data: unknown }, b: { data: unknown }) =>
    JSON.stringify(a.data) < JSON.stringify(b.data) ? -1 : 1;
  const expiries = events.filter(isExpiry).map(comparable).sort(byPolicy);
  expect(expiries).toEqual(expected.sort(byPolicy));
  expect(expiries.length).toBeGreaterThan(5);
  const blocks = events.map(({ blockNumber }) => blockNumber);
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
});

test("the columns agree with the body, and the key is made of block, transaction and log, or of the policy", () => {
  for (const event of events) {
    const { id, type, blockNumber, blockHash, txHash, body } = event;
    expect(body).toMatchObject({ id, type, version: 1, chainId: 8453, blockHash, txHash });
    expect(body.blockNumber).toBe(String(blockNumber));
    expect(Object.keys(body)).toEqual([
      ...["id", "type", "version", "createdAt", "chainId", "blockNumber", "blockHash", "txHash", "data"],
    ]);
    expect(event.key).toMatch(keyOf(type));
    expect(event.occurrence).toBe(1);
  }
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test("a subscription receives the events of its types and wallet, and all burns if it names them", async () => {
  const deliveries = await world.deliveries();
  for (const { id, wallet, types } of subscriptions) {
    const received = deliveries.filter(({ webhookId }) => webhookId === id).map(({ seq }) => seq);
    const expected = events.filter(
      ({ type, parties }) =>
        types.includes(type) && (parties.includes(wallet.toLowerCase()) || type === "token_burned"),
    );
    expect(received).toEqual(expected.map(({ seq }) => seq));
    expect(received).not.toEqual([]);
  }
  expect(new Set(world.announced)).toEqual(new Set(subscriptions.map(({ id }) => String(id))));
});

test("every body fits the OpenAPI document, also the body of a reversal", async () => {
  await world.connection.sql`update service.delivery set taken_at = now()`;
  await reorganise(1);
  await chain.client.mine({ blocks: 1 });
  await world.processed();
  await world.stack.start("api");
  const document = await fetchOpenApi(world.stack.apiUrl);
  await world.stack.stopService("api");
  const all = await world.events();
  expect(all.flatMap(({ body }) => eventFaults(document, body))).toEqual([]);
  expect(all.at(-1)?.type).toBe("event_reverted");
  await outbox.stop();
});

test("after the chain reverts to a block below the indexer's start, all rows are as before, and the head is the chain's", async () => {
  const { protocol } = historyContext(chain);
  const before = await rows.everything();
  const id = await snapshot(protocol);
  await trade(historyContext(chain));
  await trade(historyContext(chain));
  await world.stack.restart("indexer");
  await rows.caughtUp(chain.client);
  await revertTo(protocol, id);
  await chain.client.mine({ blocks: 1 });
  await expectChainsRows();
  expect({ ...(await rows.everything()), head: [] }).toEqual({ ...before, head: [] });
});

test("a changed projection indexes the whole history into a new schema with the same rows, and the views switch to it", async () => {
  const before = await rows.everything();
  const old = await servedSchema(rows.sql);
  await waitForOtherSchema(rows.sql, old, { indexer: await startChangedIndexer(world.stack) });
  await rows.caughtUp(chain.client);
  // It has seen no kill and no reorganisation.
  expect(await rows.everything()).toEqual(before);
  await trade(historyContext(chain));
  await expectChainsRows();
});

test("a product with a new adapter counts from 1 again: the indexer ends, and its next start has the new policies beside those that they replace", async () => {
  // Ponder refuses to start where its final block is older than at the start before.
  await chain.client.mine({ blocks: 30 });
  await rows.caughtUp(chain.client);
  const child = await world.stack.restart("indexer");
  await replaceAdapter(historyContext(chain));
  expect(await child.exited).toEqual({ code: exitCodes.newSource, signal: null });
  await world.stack.restart("indexer");
  await expectChainsRows();
  const replaced = await rows.rows("replaced_policy");
  expect(replaced.length).toBeGreaterThan(3);
  expect(replaced.filter(({ observations }) => observations === 1)).toHaveLength(1);
});
