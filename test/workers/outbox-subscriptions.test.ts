/**
 * What this proves: a subscription gets what happens on the chain from its creation on, be the block that it happens in an old
 * one's replacement, and nothing from before; and blocks that are not deep enough are not told of.
 */
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import type { Outbox } from "../../workers/outbox/start.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitters.ts";
import { issueBonds } from "./support/bonds.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice: Address = "0x00000000000000000000000000000000000a11ce";
const bob: Address = "0x0000000000000000000000000000000000000b0b";

let chain: EmitterChain;
let world: OutboxWorld;
let outbox: Outbox;
/** Made before the outbox first began, and before its first event. */
let early: number;

beforeAll(async () => {
  chain = await startEmitterChain();
  world = await startOutboxWorld(chain);
  await issueBonds(chain, alice, 1n);
  early = await world.subscribe(alice);
  await issueBonds(chain, alice, 2n);
  // So far that what came before the newest sixty blocks is final when the outbox begins.
  await chain.client.mine({ blocks: 100 });
  await world.rows.caughtUp(chain.client);
});

const mine = (blocks = 1) => chain.client.mine({ blocks });
/** The bonds that a subscription is told of, by their amounts. */
async function toldTo(webhookId: number): Promise<string[]> {
  const events = new Map((await world.events()).map((event) => [event.seq, event]));
  return (await world.deliveries())
    .filter((delivery) => delivery.webhookId === webhookId && delivery.state !== "cancelled")
    .map(({ seq }) => String(events.get(seq)?.body.data.amount));
}

test("the first outbox of a chain begins where the oldest subscription does, and tells it nothing from before", async () => {
  outbox = world.start();
  await world.passed();
  expect(await toldTo(early)).toEqual(["2"]);
  expect((await world.events()).map(({ body }) => body.data.amount)).toEqual(["2"]);
});

test("a new subscription gets what comes, not what was, and not what is another wallet's or type's", async () => {
  await issueBonds(chain, alice, 3n);
  await world.passed();
  const late = await world.subscribe(alice);
  const other = await world.subscribe(alice, { events: ["listing_created", "token_burned"] });
  const bobs = await world.subscribe(bob, { events: ["bond_minted"] });
  await issueBonds(chain, alice, 4n);
  await issueBonds(chain, bob, 5n);
  await world.passed();
  expect(await toldTo(early)).toEqual(["2", "3", "4"]);
  expect(await toldTo(late)).toEqual(["4"]);
  expect(await toldTo(other)).toEqual([]);
  expect(await toldTo(bobs)).toEqual(["5"]);
});

test("what is mined between the creation and the outbox's next pass is the subscription's, what was mined before is not", async () => {
  await world.passed();
  await outbox.stop();
  await issueBonds(chain, alice, 6n);
  const between = await world.subscribe(alice);
  await issueBonds(chain, alice, 7n);
  outbox = world.start();
  await world.passed();
  expect(await toldTo(between)).toEqual(["7"]);
});

test("what a reorganisation puts into a block from before the creation is new to the subscription", async () => {
  await issueBonds(chain, alice, 8n);
  await mine();
  await world.passed();
  const head = await chain.client.getBlockNumber();
  const fresh = await world.subscribe(alice);
  await chain.client.request<{ Method: "anvil_rollback"; Parameters: [number]; ReturnType: null }>({
    method: "anvil_rollback",
    params: [2],
  });
  const { blockNumber } = await issueBonds(chain, alice, 9n);
  expect(blockNumber).toBeLessThanOrEqual(head);
  await mine(3);
  await waitFor({
    what: "the bond in the block that took an old one's place",
    probe: async () => ((await toldTo(early)).at(-1) === "9" ? true : undefined),
    timeoutMs: 60_000,
  });
  expect(await toldTo(fresh)).toEqual(["9"]);
});

test("a subscription that delivers no more gets no deliveries, but what it misses stands", async () => {
  const away = await world.subscribe(alice);
  const { sql } = world.connection;
  await sql`
    update service.webhook set state = 'undeliverable', undeliverable_at = now(), position = passed_event
    where id = ${away}`;
  await issueBonds(chain, alice, 10n);
  await world.passed();
  expect(await toldTo(away)).toEqual([]);
  const missed = await sql<{ amount: string }[]>`
    select e.body::json -> 'data' ->> 'amount' as amount from service.event e, service.webhook w
    where w.id = ${away} and e.seq > w.position and service.is_for(e, w)`;
  expect(missed.map(({ amount }) => amount)).toEqual(["10"]);
});

test("a deleted subscription gets no deliveries", async () => {
  const [deleted, there] = [await world.subscribe(bob), await world.subscribe(bob)];
  await world.connection.sql`update service.webhook set state = 'deleted', secret = '' where id = ${deleted}`;
  await issueBonds(chain, bob, 20n);
  await world.passed();
  expect([await toldTo(deleted), await toldTo(there)]).toEqual([[], ["20"]]);
});

test("with three confirmations an event is told once two blocks stand on its own, and one that falls out before never", async () => {
  await outbox.stop();
  outbox = world.start({ confirmations: 3 });
  const patient = await world.subscribe(alice);
  await issueBonds(chain, alice, 11n);
  await mine();
  await world.passed(3);
  expect(await toldTo(patient)).toEqual([]);
  await mine();
  await world.passed(3);
  expect(await toldTo(patient)).toEqual(["11"]);
  await issueBonds(chain, alice, 12n);
  await mine();
  await world.rows.caughtUp(chain.client);
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [2, []],
  });
  await mine(5);
  await world.passed(3);
  expect(await toldTo(patient)).toEqual(["11"]);
  expect((await world.events()).filter(({ body }) => body.data.amount === "12")).toEqual([]);
});
