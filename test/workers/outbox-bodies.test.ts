/**
 * What this proves: over a history that reaches every event of the protocol, each becomes one event of the outbox, in the
 * chain's order, whose body says what the chain's own logs and views say; and it goes to those whom it concerns.
 */
import { beforeAll, expect, test } from "vitest";
import { eventTypes } from "../../lib/webhooks/events.ts";
import { buyers, chapters, storyOn } from "../src/support/history.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { eventFaults, fetchOpenApi } from "../support/openapi.ts";
import { expectedExpiries, expectedLogEvents } from "./support/expected-events.ts";
import { type OutboxWorld, type StoredEvent, startOutboxWorld } from "./support/outbox.ts";

let chain: TestChain;
let world: OutboxWorld;
let events: StoredEvent[];
/** A subscription to everything for each buyer, and one of the first buyer's to expiries alone. */
const subscriptions: { id: number; wallet: string; types: readonly string[] }[] = [];

beforeAll(async () => {
  chain = await startChain({ retired: false });
  world = await startOutboxWorld(chain);
  for (const { address } of buyers) {
    subscriptions.push({ id: await world.subscribe(address), wallet: address, types: eventTypes });
  }
  const [{ address } = chain.owner] = buyers;
  const expiries = await world.subscribe(address, { events: ["policy_expired"] });
  subscriptions.push({ id: expiries, wallet: address, types: ["policy_expired"] });
  world.start();
  for (const chapter of chapters) await chapter.play(storyOn(chain));
  await world.passed();
  events = await world.events();
});

/** An event reduced to what the expectation says. */
const told = ({ type, parties, body }: StoredEvent) => {
  const { blockNumber, blockHash, txHash, createdAt, data } = body;
  return { type, parties, blockNumber, blockHash, txHash, createdAt, data };
};
const isExpiry = ({ type }: { type: string }) => type === "policy_expired";

test("every event of a log is told once, in the chain's order, with all that the chain says of it", async () => {
  const logs = events.filter((event) => !isExpiry(event));
  expect(logs.map(told)).toEqual(await expectedLogEvents(chain));
  const types = new Set(events.map(({ type }) => type));
  expect(eventTypes.filter((type) => !types.has(type))).toEqual(["event_reverted"]);
});

test("every policy that expired is told once, in the block whose time passed its end", async () => {
  const byPolicy = (a: { data: unknown }, b: { data: unknown }) =>
    JSON.stringify(a.data) < JSON.stringify(b.data) ? -1 : 1;
  const expiries = events.filter(isExpiry).map(told).sort(byPolicy);
  expect(expiries).toEqual((await expectedExpiries(chain)).sort(byPolicy));
  expect(expiries.length).toBeGreaterThan(5);
});

test("events are numbered by their blocks, whether a log or the time made them", () => {
  const blocks = events.map(({ blockNumber }) => blockNumber);
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b));
});

test("the columns say what the body says, and the id follows from chain, block, transaction and log alone", () => {
  for (const event of events) {
    const { id, type, blockNumber, blockHash, txHash, body } = event;
    expect(body).toMatchObject({ id, type, version: 1, chainId: 8453, blockHash, txHash });
    expect(body.blockNumber).toBe(String(blockNumber));
    expect(Object.keys(body)).toEqual([
      ...["id", "type", "version", "createdAt", "chainId", "blockNumber", "blockHash", "txHash", "data"],
    ]);
    expect(event.key).toMatch(
      isExpiry(event) ? /^expired:0x[0-9a-f]{64}:\d+$/ : /^0x[0-9a-f]{64}:0x[0-9a-f]{64}:\d+$/,
    );
    expect(event.occurrence).toBe(1);
  }
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
});

test("a subscription gets the events of its types in which its wallet is a party, and everybody's burns", async () => {
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

test("every body is as the OpenAPI document describes it, that of a reversal too", async () => {
  await world.connection.sql`update service.delivery set taken_at = now()`;
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [1, []],
  });
  await chain.client.mine({ blocks: 1 });
  await world.passed();
  await world.stack.start("api");
  const document = await fetchOpenApi(world.stack.apiUrl);
  const all = await world.events();
  expect(all.flatMap(({ body }) => eventFaults(document, body))).toEqual([]);
  expect(all.at(-1)?.type).toBe("event_reverted");
});
