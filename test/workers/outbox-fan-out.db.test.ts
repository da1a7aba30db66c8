/**
 * What this proves: a burn reaches every subscription that names it exactly once, in batches, whatever dies between or in them;
 * meanwhile each subscription receives its events in order, and others do not wait.
 */
import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import type { ChainEvent, StoredEvent } from "../../workers/outbox/event.ts";
import { createBatch } from "../../workers/outbox/fan-out.ts";
import { storeEvents } from "../../workers/outbox/store-events.ts";
import { claimDeliveries } from "../../workers/webhooks/claim-deliveries.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const CHAIN = 31_337;
const alice = "0x00000000000000000000000000000000000a11ce";
const hash: Hex = `0x${"1f".repeat(32)}`;
const writer = { chainId: CHAIN, token: randomUUID() };

let databaseUrl: string;
let admin: Connection["sql"];
let outbox: Connection["sql"];
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  const open = (name: string, statementTimeout: number) => {
    const connection = connect(databaseUrl, { name, max: 1, statementTimeout, freshPlans: true });
    atEnd(connection.close);
    return connection.sql;
  };
  admin = open("test", 120_000);
  // In one statement, an event with this many subscriptions would take longer.
  outbox = open("outbox", 2500);
});

let block: bigint;
beforeEach(async () => {
  block = 0n;
  await admin`truncate service.webhook, service.event, service.outbox restart identity cascade`;
  await admin`
    insert into service.outbox (chain_id, final_block, final_time, processed_block) values (${CHAIN}, 0, 0, 0)`;
});

/** Adds active subscriptions, each of a wallet of its own unless one is given. */
const subscribe = (count: number, events: readonly string[], wallet: string | null = null) => admin`
  insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
  select ${CHAIN}, coalesce(${wallet}::text, '0x' || lpad(to_hex(n), 40, '0')), 'https://example.com/', ${[...events]}::text[],
    'sealed', 0, -1, 0
  from generate_series(1, ${count}::int) n`;

function eventOf(type: "token_burned" | "bond_minted"): ChainEvent {
  block += 1n;
  const common = {
    ...{ block: { number: block, hash, timestamp: 1_700_000_000n }, log: { index: 0, txHash: hash } },
    ...{ key: `${type}-${block}`, occurrence: 1 },
  };
  return type === "token_burned"
    ? {
        ...{ ...common, type, parties: [] },
        data: { burner: alice, source: "direct", tokenAmount: "1", usdcSpent: "0", effectivePrice: null },
      }
    : {
        ...{ ...common, type, parties: [alice] },
        data: { bondId: "1", holder: alice, amount: "1", productId: null, policyId: null },
      };
}
const burn = () => eventOf("token_burned");
const bond = () => eventOf("bond_minted");

/** Stores new events and reversals as a run of the outbox does. */
async function store(events: readonly ChainEvent[], reverted: readonly StoredEvent[] = []) {
  const [row] = await admin<{ version: string }[]>`
    select version::text as version from service.outbox where chain_id = ${CHAIN}`;
  const at = { finalBlock: 0n, processedBlock: block };
  const cursor = { ...at, finalTime: 0n, taken: undefined, version: row?.version ?? "0" };
  const orphaned = reverted.map((event) => ({ kind: "orphaned" as const, event, canonicalBlockHash: hash }));
  const plan = { ...at, reverted: orphaned, events, takenBlock: undefined, timeIsFinal: false, more: false };
  return storeEvents(outbox, CHAIN, { cursor, plan, finalTime: 0n, taken: undefined });
}

/** A stored event, as a run that reverts it reads it. */
async function storedEvent(type: string): Promise<StoredEvent> {
  const [row] = await admin<{ seq: string; id: string; body: string; block: string }[]>`
    select seq::text, id, body, block_number::text as block from service.event where type = ${type}`;
  if (!row) throw new Error(`no stored ${type}`);
  const place = { blockNumber: row.block, blockHash: hash, txHash: hash, logIndex: 0 };
  return { ...row, ...place, type: "token_burned", parties: [], indexed: false };
}

/** Postgres's error code for a statement that took too long. */
const STATEMENT_TIMEOUT = "57014";

async function createAll(limit?: number): Promise<number> {
  let batches = 0;
  for (;;) {
    // A server that stood still has ended the statement; the outbox's next run repeats the batch.
    const made = await createBatch(outbox, CHAIN, limit).catch((error: unknown) => {
      if (sqlState(error) === STATEMENT_TIMEOUT) return "late" as const;
      throw error;
    });
    if (!made) return batches;
    if (made !== "late") batches += 1;
  }
}

/** The types and states of each subscription's deliveries, by event. */
const deliveriesOf = async (webhookId: string) =>
  (
    await admin<{ type: string; state: string }[]>`
      select e.type, d.state from service.delivery d join service.event e on e.seq = d.event_seq
      where d.webhook_id = ${webhookId}::bigint order by d.event_seq`
  ).map(({ type, state }) => `${type} ${state}`);

const countsOf = async () => {
  const [row] = await admin<{ deliveries: number; subscriptions: number }[]>`
    select count(*)::int as deliveries, count(distinct webhook_id)::int as subscriptions from service.delivery`;
  return row;
};

/** The types of the deliveries that a writer may send to a subscription now. */
async function claimable(webhookId: string, sql = admin): Promise<string[]> {
  const batch = (await claimDeliveries(sql, writer, [webhookId])).get(webhookId);
  return (batch?.deliveries ?? []).map(({ body }) => String(JSON.parse(body).type));
}

test("a burn goes to the subscriptions that name it, whatever their wallet, and not to '*'", async () => {
  await subscribe(2, ["token_burned", "bond_minted"]);
  await subscribe(1, ["*"], alice);
  await subscribe(1, ["bond_minted"], alice);
  expect(await store([burn(), bond()])).toEqual(["3", "4"]);
  await createAll();
  const received = await Promise.all(["1", "2", "3", "4"].map(deliveriesOf));
  expect(received).toEqual([
    ...[["token_burned pending"], ["token_burned pending"]],
    ...[["bond_minted pending"], ["bond_minted pending"]],
  ]);
});

test("60,000 subscriptions to burns, with a statement time-out of 2.5 s: each receives each burn once, and others do not wait", {
  timeout: 300_000,
}, async () => {
  await subscribe(60_000, ["token_burned"]);
  await subscribe(1, ["*"], alice);
  await store([burn(), bond(), burn()]);
  // The bond's delivery is there before the first batch.
  expect(await claimable("60001")).toEqual(["bond_minted"]);
  expect(await createAll()).toBe(61);
  expect(await countsOf()).toEqual({ deliveries: 120_001, subscriptions: 60_001 });
});

test("whatever dies in a batch or between two, no subscription is left out or receives an event twice", {
  timeout: 300_000,
}, async () => {
  await subscribe(3000, ["token_burned"]);
  let killed = 0;
  let over = false;
  const killing = (async () => {
    while (!over) {
      const ended = await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'writer' and state <> 'idle'`;
      killed += ended.length;
    }
  })();
  const writers = [1, 2].map(async () => {
    const own = connect(databaseUrl, { name: "writer", max: 1, freshPlans: true });
    while (!over) await createBatch(own.sql, CHAIN, 100).catch(() => {});
    await own.close();
  });
  let burns = 0;
  while (killed < 10) {
    if ((await admin`select from service.fan_out`).length > 2) continue;
    await store([burn(), burn()]);
    burns += 2;
  }
  over = true;
  await Promise.all([killing, ...writers]);
  await createAll();
  // The unique index on subscription and event excludes duplicates.
  expect(await countsOf()).toEqual({ deliveries: 3000 * burns, subscriptions: 3000 });
});

test("a subscription's later events wait until the fan-out has created its delivery of an earlier burn", async () => {
  await subscribe(1, ["token_burned", "bond_minted"], alice);
  await subscribe(1, ["token_burned", "bond_minted"], alice);
  await subscribe(1, ["bond_minted"], alice);
  await store([bond(), burn(), bond()]);
  const inOrder = ["bond_minted", "token_burned", "bond_minted"];
  expect(await claimable("1")).toEqual(["bond_minted"]);
  expect(await claimable("3")).toEqual(["bond_minted", "bond_minted"]);
  await createBatch(outbox, CHAIN, 1);
  expect(await claimable("1")).toEqual(inOrder);
  expect(await claimable("2")).toEqual(["bond_minted"]);
  await createAll(1);
  expect(await claimable("2")).toEqual(inOrder);
});

test("a burn that is reverted on its way reaches nobody else; whoever may know it receives the reversal before later events", async () => {
  await subscribe(3, ["token_burned", "bond_minted"], alice);
  await store([burn()]);
  await createBatch(outbox, CHAIN, 1);
  expect(await claimable("1")).toEqual(["token_burned"]);
  await createBatch(outbox, CHAIN, 1);
  await store([bond()], [await storedEvent("token_burned")]);
  // The second one's delivery is not sent, so it needs no reversal.
  expect(await Promise.all(["1", "2", "3"].map((id) => claimable(id)))).toEqual([
    [],
    ["bond_minted"],
    ["bond_minted"],
  ]);
  await createAll(1);
  expect(await claimable("1")).toEqual(["event_reverted", "bond_minted"]);
  expect(await Promise.all(["1", "2", "3"].map(deliveriesOf))).toEqual([
    ["token_burned cancelled", "event_reverted pending", "bond_minted pending"],
    ["token_burned cancelled", "bond_minted pending"],
    ["bond_minted pending"],
  ]);
});

test("a claim that arrives before the fan-out's batch, and reads the rows after it, takes the burns first", async () => {
  await subscribe(1, ["token_burned", "bond_minted"], alice);
  await store([burn(), bond()]);
  // Inside a transaction the claim's time is the transaction's, as if it stood still before it reads the rows.
  const session = await admin.reserve();
  try {
    await session`begin`;
    await createAll();
    expect(await claimable("1", session)).toEqual(["token_burned", "bond_minted"]);
  } finally {
    await session`rollback`;
    session.release();
  }
});
