/**
 * What these tests prove: the outbox reverts an event once the chain proves that its block was replaced, and sends
 * `event_reverted` to every subscriber that may have received the event, and to no other.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventId } from "../../../lib/webhooks/events.ts";
import { HttpFault } from "../../support/rpc-proxy.ts";
import { alice, type ReorgWorld } from "./reorganisations.ts";

/** For a file that calls `beginTest` before each test. */
export function reversalTests(open: () => ReorgWorld): void {
  let world: ReorgWorld;

  beforeAll(async () => {
    world = open();
    await world.stopOutbox();
    // New events are held back for a reversal no longer than this.
    world.startOutbox(3000);
  });
  afterAll(async () => {
    await world.stopOutbox();
    world.startOutbox();
  });

  test("an event that was not sent is reverted without event_reverted", async () => {
    await world.issueBond(1n);
    await world.processed();
    await world.reorganise(1);
    await world.untilReverted();
    expect(await world.newEvents()).toMatchObject([{ type: "bond_minted", reverted: true }]);
    expect(await world.newDeliveries(world.subscription)).toMatchObject([
      { type: "bond_minted", state: "cancelled" },
    ]);
  });

  test("an event that may have been sent is followed by event_reverted with its data and the canonical block hash", async () => {
    const receipt = await world.issueBond(2n);
    await world.processed();
    await world.markAsSent();
    await world.reorganise(1);
    await world.untilReverted();
    const [sent, reversal, ...more] = await world.newEvents();
    expect(more).toEqual([]);
    const canonical = await world.chain.client.getBlock({ blockNumber: receipt.blockNumber });
    expect(reversal).toMatchObject({
      ...{ type: "event_reverted", reverts: sent?.seq, blockHash: receipt.blockHash, parties: [alice] },
      id: eventId(8453, `reverted:${sent?.id}`, 1),
      body: {
        ...{ type: "event_reverted", version: 1, chainId: 8453 },
        ...{ blockNumber: sent?.body.blockNumber, blockHash: sent?.blockHash, txHash: sent?.txHash },
        data: {
          eventId: sent?.id,
          eventType: "bond_minted",
          canonicalBlockHash: canonical.hash,
          data: sent?.body.data,
        },
      },
    });
    expect(canonical.hash).not.toBe(receipt.blockHash);
    expect(await world.newDeliveries(world.subscription)).toMatchObject([
      { type: "bond_minted", state: "cancelled" },
      { type: "event_reverted", state: "pending" },
    ]);
  });

  test("event_reverted goes to those that may have received the event, whatever types they subscribed to", async () => {
    const bondsOnly = await world.subscribe(alice, { events: ["bond_minted"] });
    const undeliverable = await world.subscribe(alice);
    const ids = [bondsOnly, undeliverable].map(String);
    await world.issueBond(3n);
    await world.processed();
    const { sql } = world.connection;
    await sql`update service.delivery set taken_at = now() where webhook_id = any(${ids}::text[]::bigint[])`;
    await sql`
      update service.webhook set state = 'undeliverable', position = ${world.since()}, undeliverable_at = now()
      where id = ${undeliverable}`;
    await world.reorganise(1);
    await world.untilReverted();
    expect(await world.newDeliveries(world.subscription)).toMatchObject([
      { type: "bond_minted", state: "cancelled" },
    ]);
    expect(await world.newDeliveries(bondsOnly)).toMatchObject([
      { type: "bond_minted" },
      { type: "event_reverted" },
    ]);
    // It receives the reversal when it is enabled again, with all that it missed.
    expect(await world.newDeliveries(undeliverable)).toMatchObject([{ type: "bond_minted" }]);
    const missed = await sql<{ type: string }[]>`
      select e.type from service.event e, service.webhook w
      where w.id = ${undeliverable} and e.seq > ${world.since()} and service.is_for(e, w)`;
    expect(missed).toMatchObject([{ type: "event_reverted" }]);
    await sql`delete from service.webhook where id = any(${ids}::text[]::bigint[])`;
  });

  test("no event is reverted while the node does not answer, or has no block at that height", async () => {
    await world.issueBond(6n);
    await world.processed();
    await world.markAsSent();
    let requests = 0;
    const faults = [
      async () => {
        throw new HttpFault(503);
      },
      async () => "lost" as const,
      async () => ({ result: null }),
    ];
    world.proxy.intercept(async (call, forward) => {
      if (call.method !== "eth_getBlockByNumber") return forward();
      requests += 1;
      return (faults[requests % faults.length] ?? forward)();
    });
    await world.reorganise(1);
    await world.issueBond(7n);
    // New events are stored all the same, after the hold time.
    await world.processed();
    await expect.poll(() => requests).toBeGreaterThan(faults.length);
    expect((await world.newEvents()).map(({ type, reverted }) => [type, reverted])).toEqual([
      ["bond_minted", false],
      ["bond_minted", false],
    ]);
    // Later blocks become final for the index, but the outbox stays below the unproven one.
    await world.mine(70);
    await world.processed();
    const finalBlock = async () => {
      const [cursor] = await world.connection.sql<{ final: number }[]>`
        select final_block::integer as final from service.outbox`;
      return cursor?.final;
    };
    const last = Number((await world.newEvents())[0]?.blockNumber) - 1;
    await expect.poll(finalBlock).toBe(last);
    const before = requests;
    await expect.poll(() => requests).toBeGreaterThan(before + faults.length);
    expect(await finalBlock()).toBe(last);
    world.proxy.intercept();
    await world.untilReverted();
    expect((await world.newEvents()).map(({ type }) => type)).toEqual([
      ...["bond_minted", "bond_minted", "event_reverted"],
    ]);
  });

  test("no event is reverted while the node still has its block", async () => {
    const receipt = await world.issueBond(8n);
    await world.processed();
    const stale = await world.chain.client.getBlock({ blockNumber: receipt.blockNumber });
    let requests = 0;
    world.proxy.intercept(async (call, forward) => {
      if (call.method !== "eth_getBlockByNumber") return forward();
      const answer = await forward();
      if (call.params[0] !== `0x${receipt.blockNumber.toString(16)}` || !("result" in answer)) return answer;
      requests += 1;
      return { result: { ...Object(answer.result), hash: stale.hash } };
    });
    await world.reorganise(1);
    await world.mine();
    await world.processed();
    expect(requests).toBeGreaterThan(0);
    expect((await world.newEvents()).map(({ reverted }) => reverted)).toEqual([false]);
    world.proxy.intercept();
    await world.mine();
    await world.untilReverted();
  });

  test("a reorganisation of three blocks reverts their events, and no earlier one", async () => {
    await world.issueBond(10n);
    for (const usdAmount of [11n, 12n, 13n]) await world.issueBond(usdAmount);
    await world.processed();
    await world.markAsSent();
    await world.reorganise(3);
    await world.untilReverted(3);
    const events = await world.newEvents();
    expect(events.map(({ type, reverted }) => `${type} ${reverted}`)).toEqual([
      "bond_minted false",
      ...["bond_minted true", "bond_minted true", "bond_minted true"],
      ...["event_reverted false", "event_reverted false", "event_reverted false"],
    ]);
    expect(events.slice(4).map(({ reverts }) => reverts)).toEqual(events.slice(1, 4).map(({ seq }) => seq));
  });
}
