/**
 * What this proves: over a history with every event of the protocol, the outbox stores each event once and in chain order, its
 * body agrees with the chain's logs and views, and its deliveries go to the right subscriptions.
 */
import { beforeAll, expect, test } from "vitest";
import { eventTypes } from "../../lib/webhooks/events.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyers, chapters, historyContext } from "../src/support/history.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { eventFaults, fetchOpenApi } from "../support/openapi.ts";
import { expectedExpiries, expectedLogEvents } from "./support/expected-events.ts";
import { type OutboxWorld, type StoredEvent, startOutboxWorld } from "./support/outbox.ts";

let chain: TestChain;
let world: OutboxWorld;
let events: StoredEvent[];
/** What '*' means: burns are of no wallet. */
const own = eventTypes.filter((type) => type !== "token_burned");
/** Each buyer's subscription to all events, and two of the first buyer, one of them to burns. */
const subscriptions: { id: number; wallet: string; types: readonly string[] }[] = [];

beforeAll(async () => {
  chain = await startChain({ retired: false });
  world = await startOutboxWorld(chain);
  for (const { address } of buyers) {
    subscriptions.push({ id: await world.subscribe(address), wallet: address, types: own });
  }
  const [{ address } = chain.owner] = buyers;
  for (const types of [["policy_expired"], ["policy_purchased", "token_burned"]]) {
    subscriptions.push({ id: await world.subscribe(address, { events: types }), wallet: address, types });
  }
  world.start();
  for (const chapter of chapters) await chapter.play(historyContext(chain));
  await world.processed();
  // The outbox asks the node for the block of an expiry, and again a second later where that was too slow.
  const expected = (await expectedExpiries(chain)).length;
  events = await waitFor({
    what: "all expiries",
    probe: async () => {
      const all = await world.events();
      return all.filter(isExpiry).length >= expected ? all : undefined;
    },
  });
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

test("every log has one event, in chain order, with the log's data", async () => {
  const logs = events.filter((event) => !isExpiry(event));
  expect(logs.map(comparable)).toEqual(await expectedLogEvents(chain));
  const types = new Set(events.map(({ type }) => type));
  expect(eventTypes.filter((type) => !types.has(type))).toEqual(["event_reverted"]);
});

test("every expired policy has one event, in the first block after its end", async () => {
  const byPolicy = (a: { data: unknown }, b: { data: unknown }) =>
    JSON.stringify(a.data) < JSON.stringify(b.data) ? -1 : 1;
  const expiries = events.filter(isExpiry).map(comparable).sort(byPolicy);
  expect(expiries).toEqual((await expectedExpiries(chain)).sort(byPolicy));
  expect(expiries.length).toBeGreaterThan(5);
});

test("events are numbered in block order, logs and expiries alike", () => {
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
    const own = deliveries.filter(({ webhookId }) => webhookId === id).map(({ seq }) => seq);
    const expected = events.filter(
      ({ type, parties }) =>
        types.includes(type) && (parties.includes(wallet.toLowerCase()) || type === "token_burned"),
    );
    expect(own).toEqual(expected.map(({ seq }) => seq));
    expect(own).not.toEqual([]);
  }
  expect(new Set(world.announced)).toEqual(new Set(subscriptions.map(({ id }) => String(id))));
});

test("every body fits the OpenAPI document, also the body of a reversal", async () => {
  await world.connection.sql`update service.delivery set taken_at = now()`;
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [1, []],
  });
  await chain.client.mine({ blocks: 1 });
  await world.processed();
  await world.stack.start("api");
  const document = await fetchOpenApi(world.stack.apiUrl);
  const all = await world.events();
  expect(all.flatMap(({ body }) => eventFaults(document, body))).toEqual([]);
  expect(all.at(-1)?.type).toBe("event_reverted");
});
