/** Compares the index with the chain: events, entities and sums. */
import { expect } from "vitest";
import { z } from "zod";
import type { TestChain } from "../../support/chain.ts";
import * as sums from "./expected-sums.ts";
import { type Arguments, type ChainEvent, chainEvents, expectedRows } from "./logs.ts";
import * as oracle from "./oracle-views.ts";
import { type Entry, queueOf } from "./queue.ts";
import { expectSumsOfRows } from "./recomputed-sums.ts";
import { byText, type Row, type Rows } from "./rows.ts";
import * as views from "./views.ts";

/** Compares the expected columns of rows, in any order. */
function expectRows(what: string, rows: readonly Row[], expected: readonly Arguments[]): void {
  const columns = [...new Set(expected.flatMap((row) => Object.keys(row)))].sort();
  const reduce = (row: Arguments) => Object.fromEntries(columns.map((name) => [name, row[name]]));
  const inOrder = (all: readonly Arguments[]) => all.map(reduce).sort(byText);
  expect(inOrder(rows), what).toEqual(inOrder(expected));
}

async function expectEvents(rows: Rows, events: readonly ChainEvent[]): Promise<void> {
  for (const [table, expected] of expectedRows(events)) {
    const all = await rows.rows(table);
    expectRows(`${table}: positions`, all, positions(expected));
    for (const column of new Set(expected.flatMap((row) => Object.keys(row)))) {
      const having = expected.filter((row) => column in row);
      const found = all.filter((row) => having.some((other) => samePosition(row, other)));
      expectRows(
        `${table}.${column}`,
        found,
        having.map((row) => ({ ...position(row), [column]: row[column] })),
      );
    }
  }
}
const position = ({ block_number, log_index, block_hash, block_timestamp, tx_hash }: Arguments) => ({
  block_number,
  log_index,
  block_hash,
  block_timestamp,
  tx_hash,
});
const positions = (rows: readonly Arguments[]) => rows.map(position);
const samePosition = (a: Arguments, b: Arguments) =>
  a.block_number === b.block_number && a.log_index === b.log_index;

const address = z.custom<`0x${string}`>((text) => typeof text === "string" && /^0x[0-9a-f]{40}$/.test(text));

/** Compares policies, price rounds and the sequencer's status with the contracts' views. @returns the policies. */
export async function expectPolicies(
  rows: Rows,
  { client, deployment }: TestChain,
): Promise<readonly views.Policy[]> {
  const policies = await views.policies(client, deployment);
  expectRows("policy", await rows.rows("policy"), policies);
  expectRows("oracle_round", await rows.rows("oracle_round"), await oracle.rounds(client, deployment));
  expectRows("oracle_feed", await rows.rows("oracle_feed"), await oracle.newestRounds(client, deployment));
  const statuses = await oracle.sequencerEvents(client, deployment);
  expectRows("sequencer_event", await rows.rows("sequencer_event"), statuses);
  expect(await rows.rows("sequencer_state")).toEqual([await oracle.sequencer(client, deployment)]);
  return policies;
}

async function expectEntities(rows: Rows, chain: TestChain, events: readonly ChainEvent[]): Promise<void> {
  const { client, deployment } = chain;
  const policies = await expectPolicies(rows, chain);
  expectRows("product", await rows.rows("product"), await views.products(client, deployment));

  const holdings = await rows.rows("bond_holding");
  const keys = holdings.map((row) => ({
    owner: address.parse(row.owner),
    epochId: BigInt(String(row.epoch_id)),
  }));
  expectRows("bond_holding", holdings, await views.holdings(client, deployment, keys));
  for (const { epoch_id, maturity_date, supply } of await rows.rows("bond_epoch")) {
    expect(maturity_date).toBe(await views.maturity(client, deployment, BigInt(String(epoch_id))));
    const own = holdings.filter((row) => row.epoch_id === epoch_id);
    expect(own.reduce((sum, { balance }) => sum + BigInt(String(balance)), 0n)).toBe(BigInt(String(supply)));
  }

  const listings = await views.listings(client, deployment);
  const listed = (await rows.rows("listing")).map((row) => ({ ...row, active: row.status === "active" }));
  expectRows("listing", listed, listings);
  const sellers = (await rows.rows("seller_proceeds")).map(({ seller, credited, withdrawn }) => ({
    seller: address.parse(seller),
    withdrawable: String(BigInt(String(credited)) - BigInt(String(withdrawn))),
  }));
  const pending = await views.proceeds(
    client,
    deployment,
    sellers.map(({ seller }) => seller),
  );
  expectRows("seller_proceeds", sellers, pending);
  const escrow = new Map<string, bigint>();
  for (const { active, seller, epoch_id, amount } of listings) {
    const key = `${seller} ${epoch_id}`;
    if (active) escrow.set(key, (escrow.get(key) ?? 0n) + BigInt(String(amount)));
  }
  const entries = queueOf(events);
  const weeks = [...new Set(entries.map(({ week }) => week))];
  const { state, queue } = await views.vault(client, deployment, weeks);
  const waiting = new Map<string, bigint>();
  for (const { status, holder, epoch_id, usd_amount } of queue) {
    const key = `${holder} ${epoch_id}`;
    if (status === "queued") waiting.set(key, (waiting.get(key) ?? 0n) + BigInt(String(usd_amount)));
  }
  for (const { owner, epoch_id, escrowed, queued } of holdings) {
    const key = `${owner} ${epoch_id}`;
    expect({ key, escrowed, queued }).toEqual({
      key,
      escrowed: String(escrow.get(key) ?? 0n),
      queued: String(waiting.get(key) ?? 0n),
    });
  }
  expect(await rows.rows("vault_state")).toEqual([state]);
  const held = await rows.rows("redemption_queue");
  expectRows(
    "redemption_queue",
    held,
    queue.map((entry) => ({ usd_amount: entriesOf(held, entry.queue_id), ...entry })),
  );
  expectRows("redemption_queue by events", held, entries.map(expectedEntry));
  const paid = entries.flatMap(({ id, payment }) => (payment ? [{ ...payment.position, queue_id: id }] : []));
  const fromQueue = (await rows.rows("bond_redemption")).filter(({ queue_id }) => queue_id !== null);
  expectRows("bond_redemption from the queue", fromQueue, paid);

  const pauses = await rows.rows("pause_state");
  const isPaused = (of: string) => pauses.some(({ scope, paused }) => paused === true && scope === of);
  expect({ global: isPaused("global"), router: isPaused("router"), auto: isPaused("auto") }).toEqual(
    await views.pauses(client, deployment),
  );
  for (const row of await rows.rows("relayer")) {
    expect(row.authorized).toBe(await views.isRelayer(client, deployment, address.parse(row.address)));
  }
  await expectOpenPolicies(rows, chain, policies);
}

/** The amount of an entry that is paid: the contract has it no more. */
const entriesOf = (rows: readonly Row[], id: unknown) =>
  rows.find(({ queue_id }) => queue_id === id)?.usd_amount;

const expectedEntry = ({ id, week, event, payment }: Entry) => ({
  ...event.position,
  queue_id: id,
  target_epoch: String(week),
  status: payment ? "paid" : "queued",
  token_amount: payment?.args.luminaAmount ?? null,
  price_used: payment?.args.priceUsed ?? null,
  paid_at: payment?.position.block_timestamp ?? null,
  paid_tx_hash: payment?.position.tx_hash ?? null,
});

/** Compares the counts from `policy_clock` and one minute of policies with each policy's state on the chain. */
async function expectOpenPolicies(
  rows: Rows,
  { client }: TestChain,
  policies: readonly views.Policy[],
): Promise<void> {
  const { timestamp: now } = await client.getBlock();
  const open = policies.filter(
    ({ triggered_at, expires_at }) => triggered_at === null && BigInt(expires_at) >= now,
  );
  const minute = (now / 60n) * 60n;
  const [count] = await rows.sql<{ open: string }[]>`
    select
      (select coalesce(sum(policies), 0) from indexer.policy_clock
        where minute >= ${String(minute + 60n)})
      + (select count(*) from indexer.policy where expires_at >= ${String(now)}
        and expires_at < ${String(minute + 60n)} and triggered_at is null) as open`;
  expect(count).toEqual({ open: String(open.length) });
}

async function expectSums(rows: Rows, chain: TestChain, events: readonly ChainEvent[]): Promise<void> {
  expect(await rows.rows("protocol_stats")).toEqual([sums.protocolSums(events)]);
  expectRows("account", await rows.rows("account"), sums.accounts(events));
  expectRows("product_stats", await rows.rows("product_stats"), sums.productSums(events));
  expectRows("burn_day", await rows.rows("burn_day"), sums.burnDays(events));
  expectRows("burn_source_stats", await rows.rows("burn_source_stats"), sums.burnSources(events));
  expectRows("activity", await rows.rows("activity"), sums.activities(events));
  const burned = sums.burns(events).reduce((sum, { event }) => sum + BigInt(String(event.args.value)), 0n);
  expect(100_000_000n * 10n ** 18n - burned).toBe(await views.tokenSupply(chain.client, chain.deployment));
}

/** Expects the rows to match the chain. The index must have reached the head. @returns the chain's events. */
export async function expectRowsMatchChain(rows: Rows, chain: TestChain): Promise<readonly ChainEvent[]> {
  const { client, deployment } = chain;
  const events = await chainEvents(client, deployment);
  await expectEvents(rows, events);
  await expectEntities(rows, chain, events);
  await expectSums(rows, chain, events);
  await expectSumsOfRows(rows);
  const { number, hash, timestamp } = await client.getBlock();
  expect(await rows.rows("head")).toEqual([
    { chain_id: deployment.chainId, number: String(number), hash, timestamp: String(timestamp) },
  ]);
  return events;
}
