/** The keeper's tasks in the ledger: one transaction for each, failures, and when a keeper was at work. */
import type { Address } from "viem";
import { beforeEach, expect, test } from "vitest";
import { batchesOf } from "../../workers/keeper/batches.ts";
import type { Task } from "../../workers/keeper/task.ts";
import { beginBatch, noteFailures, readTasks } from "../../workers/keeper/task-records.ts";
import { noteWatch } from "../../workers/keeper/watch.ts";
import { assignNonces, NoncesWithheld, type WantedCall } from "../../workers/ledger/assign-nonces.ts";
import { gasSpentToday, readSpending } from "../../workers/ledger/gas-spending.ts";
import { type Lease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import {
  giveUp,
  lockGroups,
  overdueServiceTransactions,
  waitingServiceTransactions,
} from "../../workers/ledger/service-transactions.ts";
import { triggerOf } from "./support/keeper-triggers.ts";
import { chainId, connection, newLease, relayer, useLedgerDatabase, word } from "./support/ledger-fixture.ts";

useLedgerDatabase();

const keepers = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`] as const satisfies readonly Address[];
const [keeper, other] = keepers;
let leases: Lease[];

beforeEach(async () => {
  const { sql } = connection;
  await sql`truncate service.service_transaction, service.keeper_task, service.keeper_watch cascade`;
  leases = [];
  for (const address of keepers) {
    const lease = await takeLease(sql, { chainId, address, owner: address, role: "keeper" });
    if (!lease) throw new Error("another writer has the wallet");
    await startNonces(sql, lease, 0);
    leases.push(lease);
  }
});

const [a, b, c] = [triggerOf(1), triggerOf(2), triggerOf(3)];

/** Begins tasks in one transaction of this keeper. @returns false when another one has begun some of it. */
async function begin(tasks: readonly Task[], sender: Address = keeper): Promise<boolean> {
  const [batch] = batchesOf(tasks.map((task) => ({ task, gas: 1n, alone: false, runsCodeOf: null })));
  if (!batch) throw new Error("no task");
  return beginBatch(connection.sql, chainId, sender, batch);
}

const read = (...tasks: Task[]) => readTasks(connection.sql, chainId, tasks);
const waiting = (sender: Address) => waitingServiceTransactions(connection.sql, chainId, sender, 10);

/** Refuses the newest transaction of a keeper before it is signed. */
async function refuse(sender: Address = keeper): Promise<void> {
  const group = (await waiting(sender)).at(-1);
  if (!group) throw new Error("nothing waits");
  await giveUp(connection.sql, group, { code: "onchain_revert", message: "it would revert" });
}

const COST = 5_000n;

/** Gives nonces to whatever waits for a keeper's wallet. */
async function sign(n: 0 | 1 = 0): Promise<void> {
  const lease = leases[n];
  const sender = keepers[n];
  if (!lease) throw new Error("no lease");
  const groups = (await waiting(sender)).map(({ id, serviceTransactions }) => ({
    id,
    calls: serviceTransactions.map(({ call }): WantedCall => {
      return { kind: "service_transaction", id, call: { ...call, gasLimit: 1n }, cost: COST };
    }),
  }));
  await assignNonces(connection.sql, {
    lease,
    candidates: (tx) => lockGroups(tx, groups),
    clients: () => [],
    choose: (candidates) => ({ send: candidates.flatMap(({ calls }) => calls) }),
  });
}

const signedBy = (sender: Address) => connection.sql<{ intent: string }[]>`
  select intent from service.transaction where wallet = ${sender} order by nonce`;

const failed = (task: Task, transactionId: string | null, failures = 1) => ({
  ...{ task, failure: "it reverts", failures, retryInSeconds: 60, transactionId },
});
const idOf = async (task: Task) => (await read(task))[0]?.transaction?.id ?? null;

test("a task that was never begun has no record; a begun one has its transaction, in the order of the question", async () => {
  expect(await begin([a, b])).toBe(true);
  const [ofB, ofC, ofA] = await read(b, c, a);
  expect(ofC).toBeUndefined();
  expect(ofA).toEqual(ofB);
  expect(ofA).toMatchObject({
    ...{ failures: 0, waitsToRetry: false },
    transaction: { state: "accepted", abandoned: false, block: null, failureCode: null },
  });
});

test("two keepers claim the same tasks: one has all of its batch, and nothing of the other's is recorded", async () => {
  const begun = await Promise.all([begin([a, b], keeper), begin([b, c], other)]);
  expect(begun.toSorted()).toEqual([false, true]);
  const first = begun[0] ? keeper : other;
  expect(await waiting(first)).toHaveLength(1);
  expect(await waiting(first === keeper ? other : keeper)).toEqual([]);
  expect((await read(a, b, c)).filter((record) => record)).toHaveLength(2);
});

test("twenty keepers claim overlapping tasks at once, in every order: each has one transaction", async () => {
  const all = Array.from({ length: 10 }, (_, n) => triggerOf(n));
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      begin(n % 2 === 0 ? [...all].reverse().slice(n % 7) : all.slice(n % 5), n % 2 === 0 ? keeper : other),
    ),
  );
  const groups = [...(await waiting(keeper)), ...(await waiting(other))];
  const owned = await connection.sql`select distinct service_transaction_id from service.keeper_task`;
  expect(owned).toHaveLength(groups.length);
});

test("a task is begun again once its transaction was refused, and not before", async () => {
  await begin([a]);
  expect(await begin([a], other)).toBe(false);
  await refuse();
  expect((await read(a))[0]?.transaction).toMatchObject({ state: "failed", failureCode: "onchain_revert" });
  expect(await begin([a], other)).toBe(true);
});

/** As if the newest transaction of a keeper were mined. */
const mineIn = (block: number) => connection.sql`
  update service.transaction set hash = ${word(1)}, block_number = ${block}, block_hash = ${word(block)}, outcome = 'done',
    gas_cost = 1, settled_at = now() where wallet = ${keeper}`;

test("the next observation is begun once the one before it shows in the index, and what failed before counts no more", async () => {
  await noteFailures(connection.sql, chainId, [failed(a, null, 4)]);
  await begin([a]);
  await sign();
  await mineIn(50);
  for (const changedIn of [null, 49n]) expect(await begin([{ ...a, changedIn }], other)).toBe(false);
  expect((await read(a))[0]?.failures).toBe(4);
  expect(await begin([{ ...a, changedIn: 50n }, b], other)).toBe(true);
  expect((await read(a))[0]).toMatchObject({ failures: 0, transaction: { state: "accepted" } });
});

test("a task of a keeper whose writer has been away for a minute is begun by another", async () => {
  await begin([a, b]);
  await sign();
  const leaveFor = (seconds: number) => connection.sql`
    update service.relayer_wallet set lease_until = now() - make_interval(secs => ${seconds}) where address = ${keeper}`;
  await leaveFor(50);
  expect((await read(a))[0]?.transaction?.abandoned).toBe(false);
  expect(await begin([a], other)).toBe(false);
  await leaveFor(61);
  expect((await read(a))[0]?.transaction?.abandoned).toBe(true);
  expect(await begin([a], other)).toBe(true);
  expect((await read(a))[0]?.transaction).toMatchObject({ abandoned: false });
});

test("a failure lets a task wait, and releases it from its transaction", async () => {
  await begin([a, b]);
  await refuse();
  await noteFailures(connection.sql, chainId, [failed(a, await idOf(a))]);
  const [ofA, ofB] = await read(a, b);
  expect(ofA).toEqual({ failures: 1, waitsToRetry: true, transaction: null });
  expect(ofB?.transaction).toMatchObject({ state: "failed" });
  await connection.sql`update service.keeper_task set retry_at = now()`;
  expect((await read(a))[0]).toMatchObject({ failures: 1, waitsToRetry: false });
});

test("a failure is noted for a task that was never begun", async () => {
  await noteFailures(connection.sql, chainId, [failed(a, null), failed(b, null, 4)]);
  expect((await read(a, b)).map((record) => record?.failures)).toEqual([1, 4]);
});

test("a failure that another keeper's transaction has overtaken is not noted", async () => {
  await begin([a]);
  const first = await idOf(a);
  await refuse();
  await begin([a], other);
  for (const seen of [first, null]) await noteFailures(connection.sql, chainId, [failed(a, seen)]);
  expect((await read(a))[0]).toMatchObject({
    failures: 0,
    waitsToRetry: false,
    transaction: { state: "accepted" },
  });
});

test("the keeper's gas counts apart from all other wallets'", async () => {
  const { sql } = connection;
  await begin([a]);
  await sign();
  await begin([b], other);
  await sign(1);
  const [lease] = leases;
  if (!lease) throw new Error("no keeper has a lease");
  expect((await readSpending(sql, lease, [])).all).toBe(2n * COST);
  expect(await gasSpentToday(sql, chainId)).toBe(0n);
});

/** Notes an unknown transaction of a wallet, since now. */
const noteUnknownOf = (address: Address, role: "relayer" | "keeper") => connection.sql`
  insert into service.relayer_wallet (chain_id, address, role, next_nonce, unknown_from, unknown_below, unknown_since)
  values (${chainId}, ${address}, ${role}, 0, 0, 1, now())
  on conflict (chain_id, address) do update set unknown_from = 0, unknown_below = 1, unknown_since = now()`;
const makeOverdue = () =>
  connection.sql`update service.waiting set created_at = now() - interval '2 minutes'`;
const overdue = () => overdueServiceTransactions(connection.sql, chainId);

test("a relayer's or another keeper's unknown transaction stops no trigger, and an overdue one is given up", async () => {
  await noteUnknownOf(relayer, "relayer");
  await noteUnknownOf(other, "keeper");
  await begin([a]);
  expect(await waiting(keeper)).toHaveLength(1);
  await sign();
  expect((await read(a))[0]?.transaction?.id).toBe((await signedBy(keeper))[0]?.intent);
  await begin([b]);
  await makeOverdue();
  expect(await overdue()).toHaveLength(1);
});

test("a keeper's own unknown transaction stops its triggers, and none of them is given up", async () => {
  await begin([a]);
  await noteUnknownOf(keeper, "keeper");
  expect(await waiting(keeper)).toEqual([]);
  await makeOverdue();
  expect(await overdue()).toEqual([]);
});

test("a keeper sends nothing until its own wallet was compared; that a relayer's was not stops no trigger", async () => {
  await newLease();
  await begin([a]);
  const uncompare = (address: Address) =>
    connection.sql`update service.relayer_wallet set compared_with = null where address = ${address}`;
  await uncompare(relayer);
  await uncompare(keeper);
  await expect(sign()).rejects.toThrow(NoncesWithheld);
  await connection.sql`
    update service.relayer_wallet set compared_with = pg_postmaster_start_time() where address = ${keeper}`;
  await sign();
  expect(await signedBy(keeper)).toHaveLength(1);
});

const watches = () => connection.sql<{ since: string; until: string }[]>`
  select since::int, until::int from service.keeper_watch order by since`;

test("a keeper that looks again and again was there all the time, also when its head goes back", async () => {
  for (const time of [1000n, 1030n, 1020n, 1090n]) await noteWatch(connection.sql, chainId, time);
  expect(await watches()).toEqual([{ since: 1000, until: 1090 }]);
});

test("a keeper that has not looked for a minute was away", async () => {
  const { sql } = connection;
  await noteWatch(sql, chainId, 1000n);
  await sql`update service.keeper_watch set seen_at = now() - interval '61 seconds'`;
  await noteWatch(sql, chainId, 1040n);
  expect(await watches()).toEqual([
    { since: 1000, until: 1000 },
    { since: 1040, until: 1040 },
  ]);
});

test("a keeper whose index stood still for more than a minute was away, however often it looked", async () => {
  for (const time of [1000n, 1000n, 1000n, 1061n, 1070n]) await noteWatch(connection.sql, chainId, time);
  expect(await watches()).toEqual([
    { since: 1000, until: 1000 },
    { since: 1061, until: 1070 },
  ]);
});
