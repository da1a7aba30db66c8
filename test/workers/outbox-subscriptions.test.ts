/**
 * What this proves: a subscription receives the events after its creation, also those in a block that replaces an older one,
 * and no earlier ones; and events without enough confirmations are not sent.
 */
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import type { Outbox } from "../../workers/outbox/start.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitter-chain.ts";
import { issueBonds } from "./support/bonds.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice: Address = "0x00000000000000000000000000000000000a11ce";
const bob: Address = "0x0000000000000000000000000000000000000b0b";

let chain: EmitterChain;
let world: OutboxWorld;
let outbox: Outbox;
/** Created before the outbox first starts. */
let early: number;

beforeAll(async () => {
  chain = await startEmitterChain();
  world = await startOutboxWorld(chain, { indexer: false });
  await issueBonds(chain, alice, 1n);
  early = await world.subscribe(alice);
  await issueBonds(chain, alice, 2n);
  // Enough blocks to make both bonds final before the outbox starts.
  await chain.client.mine({ blocks: 100 });
  await world.stack.start("indexer");
  await chain.client.mine({ blocks: 1 });
  await world.rows.caughtUp(chain.client);
});

const mine = (blocks = 1) => chain.client.mine({ blocks });
/** The amounts of the bonds with a delivery for a subscription. */
async function bondsFor(webhookId: number): Promise<string[]> {
  const events = new Map((await world.events()).map((event) => [event.seq, event]));
  return (await world.deliveries())
    .filter((delivery) => delivery.webhookId === webhookId && delivery.state !== "cancelled")
    .map(({ seq }) => String(events.get(seq)?.body.data.amount));
}

test("the first outbox of a chain starts at the oldest subscription, and sends it no earlier events", async () => {
  outbox = world.start();
  await world.processed();
  expect(await bondsFor(early)).toEqual(["2"]);
  expect((await world.events()).map(({ body }) => body.data.amount)).toEqual(["2"]);
});

test("a new subscription receives later events of its wallet and types alone", async () => {
  await issueBonds(chain, alice, 3n);
  await world.processed();
  const late = await world.subscribe(alice);
  const other = await world.subscribe(alice, { events: ["listing_created", "token_burned"] });
  const bobs = await world.subscribe(bob, { events: ["bond_minted"] });
  await issueBonds(chain, alice, 4n);
  await issueBonds(chain, bob, 5n);
  await world.processed();
  expect(await bondsFor(early)).toEqual(["2", "3", "4"]);
  expect(await bondsFor(late)).toEqual(["4"]);
  expect(await bondsFor(other)).toEqual([]);
  expect(await bondsFor(bobs)).toEqual(["5"]);
});

test("a subscription receives events mined after its creation, also before the outbox's next run", async () => {
  await world.processed();
  await outbox.stop();
  await issueBonds(chain, alice, 6n);
  const between = await world.subscribe(alice);
  await issueBonds(chain, alice, 7n);
  outbox = world.start();
  await world.processed();
  expect(await bondsFor(between)).toEqual(["7"]);
});

test("a subscription receives an event that a reorganisation adds to a block from before its creation", async () => {
  await issueBonds(chain, alice, 8n);
  await mine();
  await world.processed();
  const head = await chain.client.getBlockNumber();
  const fresh = await world.subscribe(alice);
  await chain.client.request<{ Method: "anvil_rollback"; Parameters: [number]; ReturnType: null }>({
    method: "anvil_rollback",
    params: [2],
  });
  const { blockNumber } = await issueBonds(chain, alice, 9n);
  expect(blockNumber).toBeLessThanOrEqual(head);
  await mine(3);
  await expect.poll(async () => (await bondsFor(early)).at(-1)).toBe("9");
  expect(await bondsFor(fresh)).toEqual(["9"]);
});

test("an undeliverable subscription gets no deliveries, and its missed events can be listed", async () => {
  const away = await world.subscribe(alice);
  const { sql } = world.connection;
  await sql`
    update service.webhook set state = 'undeliverable', undeliverable_at = now(), position = processed_event
    where id = ${away}`;
  await issueBonds(chain, alice, 10n);
  await world.processed();
  expect(await bondsFor(away)).toEqual([]);
  const missed = await sql<{ amount: string }[]>`
    select e.body::json -> 'data' ->> 'amount' as amount from service.event e, service.webhook w
    where w.id = ${away} and e.seq > w.position and service.is_for(e, w)`;
  expect(missed.map(({ amount }) => amount)).toEqual(["10"]);
});

test("a deleted subscription gets no deliveries", async () => {
  const [deleted, there] = [await world.subscribe(bob), await world.subscribe(bob)];
  await world.connection.sql`update service.webhook set state = 'deleted', secret = '' where id = ${deleted}`;
  await issueBonds(chain, bob, 20n);
  await world.processed();
  expect([await bondsFor(deleted), await bondsFor(there)]).toEqual([[], ["20"]]);
});

test("with three confirmations an event is sent two blocks later, and never when a reorganisation removes it before", async () => {
  await outbox.stop();
  outbox = world.start({ confirmations: 3 });
  const patient = await world.subscribe(alice);
  await issueBonds(chain, alice, 11n);
  await mine();
  await world.processed(3);
  expect(await bondsFor(patient)).toEqual([]);
  await mine();
  await world.processed(3);
  expect(await bondsFor(patient)).toEqual(["11"]);
  await issueBonds(chain, alice, 12n);
  await mine();
  await world.rows.caughtUp(chain.client);
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [2, []],
  });
  await mine(5);
  await world.processed(3);
  expect(await bondsFor(patient)).toEqual(["11"]);
  expect((await world.events()).filter(({ body }) => body.data.amount === "12")).toEqual([]);
});
