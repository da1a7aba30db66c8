/**
 * What this proves: an event whose block fell out of the chain is taken back once the chain itself shows it, and is told to
 * whoever may have been sent it and to nobody else; what comes back, or is mined again, is told anew.
 */
import type { Address, Hex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eventId } from "../../lib/webhooks/events.ts";
import { openProtocol, revertTo, snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitters.ts";
import { HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { issueBonds } from "./support/bonds.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice: Address = "0x00000000000000000000000000000000000a11ce";

let chain: EmitterChain;
let proxy: RpcProxy;
let world: OutboxWorld;
let outbox: ReturnType<OutboxWorld["start"]>;
let subscription: number;
/** Everything before is of an earlier test. */
let since: number;

beforeAll(async () => {
  chain = await startEmitterChain();
  proxy = await startRpcProxy(chain.url);
  world = await startOutboxWorld(chain);
  subscription = await world.subscribe(alice);
  await mine();
  outbox = world.start({ rpcUrl: proxy.url, holdMs: 3000 });
  await world.passed();
});

beforeEach(async () => {
  proxy.intercept();
  // What an earlier test has left to be told, as one that failed does, is none of this one's.
  await world.passed();
  since = (await world.events()).at(-1)?.seq ?? 0;
});

const mine = (blocks = 1) => chain.client.mine({ blocks });
const newEvents = async () => (await world.events()).filter(({ seq }) => seq > since);
const deliveriesOf = async (webhookId: number) =>
  (await world.deliveries()).filter((delivery) => delivery.webhookId === webhookId && delivery.seq > since);

/** A bond of so many dollars, in a block of its own. */
const issueBond = (usdAmount: bigint) => issueBonds(chain, alice, usdAmount);

const bytesOf = (hash: Hex) =>
  chain.client.request<{ Method: "eth_getRawTransactionByHash"; Parameters: [Hex]; ReturnType: Hex }>({
    method: "eth_getRawTransactionByHash",
    params: [hash],
  });

/** Takes the newest blocks off the chain with all that is in them, and lets the index see others in their place. */
async function reorganise(depth: number, transactions: readonly [Hex, number][] = []): Promise<void> {
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, unknown]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [depth, transactions],
  });
  await mine();
  await world.rows.caughtUp(chain.client);
}

/** As the writer does before it sends: from then on the event may be known. */
const take = () =>
  world.connection
    .sql`update service.delivery set taken_at = now() where event_seq > ${since} and state = 'pending'`;

async function untilReverted(count = 1): Promise<void> {
  await waitFor({
    what: "the event to be taken back",
    probe: async () =>
      (await newEvents()).filter(({ reverted }) => reverted).length === count ? true : undefined,
    timeoutMs: 60_000,
  });
}

test("one that nobody was sent is taken back without a word", async () => {
  await issueBond(1n);
  await world.passed();
  await reorganise(1);
  await untilReverted();
  expect(await newEvents()).toMatchObject([{ type: "bond_minted", reverted: true }]);
  expect(await deliveriesOf(subscription)).toMatchObject([{ type: "bond_minted", state: "cancelled" }]);
});

test("one that was sent, or may have been, is followed by event_reverted with what it had told and the block that stands there now", async () => {
  const receipt = await issueBond(2n);
  await world.passed();
  await take();
  await reorganise(1);
  await untilReverted();
  const [told, taken, ...more] = await newEvents();
  expect(more).toEqual([]);
  const canonical = await chain.client.getBlock({ blockNumber: receipt.blockNumber });
  expect(taken).toMatchObject({
    ...{ type: "event_reverted", reverts: told?.seq, blockHash: receipt.blockHash, parties: [alice] },
    id: eventId(8453, `reverted:${told?.id}`, 1),
    body: {
      ...{ type: "event_reverted", version: 1, chainId: 8453 },
      ...{ blockNumber: told?.body.blockNumber, blockHash: told?.blockHash, txHash: told?.txHash },
      data: {
        eventId: told?.id,
        eventType: "bond_minted",
        canonicalBlockHash: canonical.hash,
        data: told?.body.data,
      },
    },
  });
  expect(canonical.hash).not.toBe(receipt.blockHash);
  expect(await deliveriesOf(subscription)).toMatchObject([
    { type: "bond_minted", state: "cancelled" },
    { type: "event_reverted", state: "pending" },
  ]);
});

test("only those who may know of it are told, also when they would not have asked for it", async () => {
  const late = await world.subscribe(alice, { events: ["bond_minted"] });
  const away = await world.subscribe(alice);
  await issueBond(3n);
  await world.passed();
  const { sql } = world.connection;
  await sql`update service.delivery set taken_at = now() where webhook_id = any(${[late, away].map(String)}::text[]::bigint[])`;
  await sql`
    update service.webhook set state = 'undeliverable', position = ${since}, undeliverable_at = now() where id = ${away}`;
  await reorganise(1);
  await untilReverted();
  expect(await deliveriesOf(subscription)).toMatchObject([{ type: "bond_minted", state: "cancelled" }]);
  expect(await deliveriesOf(late)).toMatchObject([{ type: "bond_minted" }, { type: "event_reverted" }]);
  // It is told once it is delivered to again, by the rule for what it has missed.
  expect(await deliveriesOf(away)).toMatchObject([{ type: "bond_minted" }]);
  const missed = await sql<{ type: string }[]>`
    select e.type from service.event e, service.webhook w
    where w.id = ${away} and e.seq > ${since} and service.is_for(e, w)`;
  expect(missed).toMatchObject([{ type: "event_reverted" }]);
  await sql`delete from service.webhook where id = any(${[late, away].map(String)}::text[]::bigint[])`;
});

test("a transaction that is mined again in another block is another event, after what it takes back", async () => {
  const { transactionHash } = await issueBond(4n);
  const bytes = await bytesOf(transactionHash);
  await world.passed();
  await take();
  await mine();
  await reorganise(2, [[bytes, 1]]);
  await untilReverted();
  await world.passed();
  const events = await newEvents();
  expect(events).toMatchObject([
    { type: "bond_minted", txHash: transactionHash, reverted: true },
    { type: "event_reverted" },
    { type: "bond_minted", txHash: transactionHash, reverted: false, occurrence: 1 },
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(events[0]?.body.data).toEqual(events[2]?.body.data);
});

test("a transaction that comes back in an earlier block is told after the reversal of what it was, though the index meets it before", async () => {
  // The index comes back block by block, and would be met between two of them.
  for (const usdAmount of [21n, 22n, 23n]) {
    const seen = (await world.events()).at(-1)?.seq ?? 0;
    await mine(4);
    const { transactionHash } = await issueBond(usdAmount);
    const bytes = await bytesOf(transactionHash);
    await world.passed();
    await take();
    await reorganise(5, [[bytes, 0]]);
    await waitFor({
      what: "the bond to be told anew",
      probe: async () =>
        (await world.events()).filter(({ seq }) => seq > seen).length === 3 ? true : undefined,
      timeoutMs: 60_000,
    });
    const events = (await world.events()).filter(({ seq }) => seq > seen);
    expect(events).toMatchObject([
      { type: "bond_minted", txHash: transactionHash, reverted: true },
      { type: "event_reverted", reverts: events[0]?.seq },
      { type: "bond_minted", txHash: transactionHash, reverted: false },
    ]);
    expect(events[2]?.blockNumber).toBe((events[0]?.blockNumber ?? 0) - 4);
  }
});

test("a chain that has become shorter holds nobody up", async () => {
  await outbox.stop();
  outbox = world.start({ rpcUrl: proxy.url, holdMs: 600_000 });
  const protocol = openProtocol(chain.deployment, chain.url);
  const before = await snapshot(protocol);
  await mine(5);
  await issueBond(24n);
  await world.passed();
  await revertTo(protocol, before);
  await issueBond(25n);
  await waitFor({
    what: "the bond of the shorter chain to be told",
    probe: async () => ((await newEvents()).length === 2 ? true : undefined),
    timeoutMs: 60_000,
  });
  expect((await newEvents()).map(({ reverted }) => reverted)).toEqual([false, false]);
  await mine(6);
  await untilReverted();
  await outbox.stop();
  outbox = world.start({ rpcUrl: proxy.url, holdMs: 3000 });
});

test("a block that comes back after its reversal was told is told as another occurrence", async () => {
  const { client } = chain;
  const protocol = openProtocol(chain.deployment, chain.url);
  const before = await snapshot(protocol);
  const { timestamp } = await client.getBlock();
  // The same transaction at the same time for the same fee makes the same block.
  async function play<T>(send: () => Promise<T>): Promise<T> {
    await client.setNextBlockTimestamp({ timestamp: timestamp + 100n });
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n });
    return send();
  }
  const first = await play(() => issueBond(5n));
  const bytes = await bytesOf(first.transactionHash);
  await world.passed();
  await take();
  await revertTo(protocol, before);
  const again = await snapshot(protocol);
  await mine(2);
  await untilReverted();
  await revertTo(protocol, again);
  const hash = await play(() => client.sendRawTransaction({ serializedTransaction: bytes }));
  // Anvil answers before the transaction is in its block.
  const second = await client.waitForTransactionReceipt({ hash });
  expect(second.blockHash).toBe(first.blockHash);
  await mine(3);
  await waitFor({
    what: "the event to be told anew",
    probe: async () => ((await newEvents()).length === 3 ? true : undefined),
    timeoutMs: 60_000,
  });
  const events = await newEvents();
  expect(events).toMatchObject([
    { type: "bond_minted", occurrence: 1, reverted: true },
    { type: "event_reverted" },
    { type: "bond_minted", occurrence: 2, reverted: false },
  ]);
  expect(events[2]?.key).toBe(events[0]?.key);
  expect(events[2]?.id).toBe(eventId(8453, String(events[0]?.key), 2));
});

test("while the node does not answer, or has no block there, nothing is taken back; then it is", async () => {
  await issueBond(6n);
  await world.passed();
  await take();
  let asked = 0;
  const faults = [
    async () => {
      throw new HttpFault(503);
    },
    async () => "lost" as const,
    async () => ({ result: null }),
  ];
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_getBlockByNumber") return forward();
    asked += 1;
    return (faults[asked % faults.length] ?? forward)();
  });
  await reorganise(1);
  await issueBond(7n);
  // What happens meanwhile is told all the same, once it has waited for a while.
  await world.passed();
  await waitFor({
    what: "the node to be asked",
    probe: () => (asked > 5 ? true : undefined),
    timeoutMs: 60_000,
  });
  expect((await newEvents()).map(({ type, reverted }) => [type, reverted])).toEqual([
    ["bond_minted", false],
    ["bond_minted", false],
  ]);
  // Blocks become final, but not that one's.
  await mine(70);
  await world.passed();
  const final = async () => {
    const [cursor] = await world.connection.sql<{ final: number }[]>`
      select final_block::integer as final from service.outbox`;
    return cursor?.final;
  };
  const last = Number((await newEvents())[0]?.blockNumber) - 1;
  await expect.poll(final).toBe(last);
  // Later passes do not move it either.
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before + 5);
  expect(await final()).toBe(last);
  proxy.intercept();
  await untilReverted();
  expect((await newEvents()).map(({ type }) => type)).toEqual([
    "bond_minted",
    "bond_minted",
    "event_reverted",
  ]);
});

test("a node that still has the old block proves nothing", async () => {
  const receipt = await issueBond(8n);
  await world.passed();
  const stale = await chain.client.getBlock({ blockNumber: receipt.blockNumber });
  let asked = 0;
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_getBlockByNumber") return forward();
    const answer = await forward();
    if (call.params[0] !== `0x${receipt.blockNumber.toString(16)}` || !("result" in answer)) return answer;
    asked += 1;
    return { result: { ...Object(answer.result), hash: stale.hash } };
  });
  await reorganise(1);
  await mine();
  await world.passed();
  expect(asked).toBeGreaterThan(0);
  expect((await newEvents()).map(({ reverted }) => reverted)).toEqual([false]);
  proxy.intercept();
  await mine();
  await untilReverted();
});

test("a reorganisation of several blocks takes back all that was in them, and keeps what was before", async () => {
  await issueBond(10n);
  for (const usd of [11n, 12n, 13n]) await issueBond(usd);
  await world.passed();
  await take();
  await reorganise(3);
  await untilReverted(3);
  const events = await newEvents();
  expect(events.map(({ type, reverted }) => `${type} ${reverted}`)).toEqual([
    "bond_minted false",
    "bond_minted true",
    "bond_minted true",
    "bond_minted true",
    "event_reverted false",
    "event_reverted false",
    "event_reverted false",
  ]);
  expect(events.slice(4).map(({ reverts }) => reverts)).toEqual(events.slice(1, 4).map(({ seq }) => seq));
});
