/** After commits may have been lost, each wallet is fenced or compared with the chain, whoever holds it, before any gets a nonce. */
import { afterEach, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { createLogger } from "../../lib/log.ts";
import { NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import {
  FENCE,
  noteCompared,
  noteFenced,
  placeFence,
  unfencedWallets,
} from "../../workers/ledger/fillers.ts";
import { type Lease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { dropBlocks } from "../../workers/ledger/outcomes.ts";
import { overdueServiceTransactions } from "../../workers/ledger/service-transactions.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import { compareNonces } from "../../workers/relayer/compare-nonces.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { startStandby } from "../support/standby.ts";
import {
  accepted,
  assign,
  call,
  chainId,
  connection,
  newLease,
  relayer,
  router,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();
afterEach(() => connection.sql`delete from service.stop`);

/** A writer's wallet with nonce 3 next, and one of a writer that died, with nonce 0 next. The promoted database has compared neither. */
async function failOver() {
  const lease = await newLease(3);
  const other = await takeLease(connection.sql, { chainId, address: router, owner: "died" });
  if (!other) throw new Error("no lease");
  await startNonces(connection.sql, other, 0);
  await connection.sql`
    update service.relayer_wallet set compared_with = null, fenced_with = null, fence_with = fence_with - interval '1 hour'`;
  return lease;
}

/** The wallets that hold others up. */
const uncompared = async (sql = connection.sql) =>
  (await sql<{ address: string }[]>`select address from service.uncompared_wallets(${chainId})`)
    .map(({ address }) => address)
    .sort();

/** Notes a wallet as compared. */
async function compare(address = router) {
  const found = (await unfencedWallets(connection.sql, chainId)).find((one) => one.address === address);
  if (!found) throw new Error("it is fenced");
  await noteCompared(connection.sql, chainId, found);
}

/** Fences the relayer's wallet above what is known of it. */
async function fence(lease: Lease) {
  const [first] = await placeFence(connection.sql, lease, call);
  const from = first?.nonce ?? 0;
  await mine(from, from + FENCE, 7);
  await noteFenced(connection.sql, chainId);
}

const server = async () =>
  (await connection.sql<{ start: string }[]>`select pg_postmaster_start_time()::text as start`)[0]?.start ??
  "";

const mine = (from: number, below: number, block: number) => connection.sql`
  update service.transaction set hash = ${word(8)}, block_number = ${block}, block_hash = ${word(9)}, outcome = 'done', gas_cost = 0,
    settled_at = now() where nonce >= ${from} and nonce < ${below}`;
const open = (from: number) => connection.sql`
  update service.transaction set hash = null, block_number = null, block_hash = null, outcome = null, gas_cost = null,
    settled_at = null where nonce = ${from}`;

test("no wallet gets a nonce before its fence is mined and all others were compared", async () => {
  const lease = await failOver();
  const id = await accepted();
  const withheld = () => expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  await withheld();
  const fillers = await placeFence(connection.sql, lease, call);
  expect(fillers.map(({ nonce }) => nonce)).toEqual(Array.from({ length: FENCE }, (_, n) => 3 + n));
  expect(await placeFence(connection.sql, lease, call)).toEqual([]);
  await mine(3, 3 + FENCE, 7);
  await open(3 + FENCE - 1);
  await noteFenced(connection.sql, chainId);
  expect(await uncompared()).toHaveLength(2);
  // A fence that is not mined is no comparison, whatever a count says.
  await noteCompared(connection.sql, chainId, { address: relayer, server: await server() });
  expect(await uncompared()).toHaveLength(2);
  await mine(3 + FENCE - 1, 3 + FENCE, 8);
  await noteFenced(connection.sql, chainId);
  expect(await uncompared()).toEqual([router]);
  await withheld();
  await compare();
  expect(await assign(lease, [id])).toMatchObject([{ nonce: 3 + FENCE }]);
});

test("a fence lies above transactions of the chain that the ledger lacks, and lets none be signed while they are unknown", async () => {
  const lease = await failOver();
  await noteUnknown(connection.sql, chainId, relayer, 5);
  const [first] = await placeFence(connection.sql, lease, call);
  expect(first?.nonce).toBe(5);
  await mine(5, 5 + FENCE, 7);
  await noteFenced(connection.sql, chainId);
  await compare();
  expect((await unknownNonces(connection.sql, chainId)).map(({ nonce }) => nonce)).toEqual([3, 4]);
  await expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
});

test("a wallet that was compared without a fence gets no nonce itself", async () => {
  const lease = await failOver();
  const id = await accepted();
  await compare();
  await compare(relayer);
  expect(await uncompared()).toEqual([]);
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  await fence(lease);
  expect(await assign(lease, [id])).toMatchObject([{ nonce: 3 + FENCE }]);
});

test("after a reorganisation drops the block of a fence, the wallet gets no nonce until the fence is mined again", async () => {
  const lease = await failOver();
  await compare();
  await fence(lease);
  await dropBlocks(connection.sql, chainId, [{ number: 7n, hash: word(9) }]);
  await expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
  await mine(3, 3 + FENCE, 8);
  await noteFenced(connection.sql, chainId);
  expect(await assign(lease, [await accepted()])).toMatchObject([{ nonce: 3 + FENCE }]);
});

test.each(["stopped by the operator", "held by no writer"])(
  "a wallet that is %s before its fence is mined holds up no others once it was compared, and gets no nonce itself",
  async (how) => {
    const lease = await failOver();
    await placeFence(connection.sql, lease, call);
    await compare();
    const noted = await server();
    await noteCompared(connection.sql, chainId, { address: relayer, server: noted });
    expect(await uncompared()).toEqual([relayer]);
    await (how === "held by no writer"
      ? connection.sql`update service.relayer_wallet set lease_until = now() where address = ${relayer}`
      : connection.sql`insert into service.stop (scope, subject, reason) values ('wallet', ${relayer}, 'test')`);
    await compare(relayer);
    expect(await uncompared()).toEqual([]);
    await connection.sql`delete from service.stop`;
    await connection.sql`
      update service.relayer_wallet set lease_until = now() + interval '1 minute' where address = ${relayer}`;
    await expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
  },
);

test("nobody places a fence without the lease", async () => {
  const lease = await failOver();
  expect(await placeFence(connection.sql, { ...lease, owner: "another" }, call)).toEqual([]);
  expect(await connection.sql`select 1 from service.transaction`).toEqual([]);
});

test("nothing is refused or given up before that: it may have been sent", async () => {
  await failOver();
  await connection.sql`
    insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
    values (${chainId}, ${relayer}, 'sandbox_ether', ${wallet}, '0x', 5)`;
  await connection.sql`update service.waiting set created_at = now() - interval '1 hour'`;
  const chain = { nonce: async () => 0 };
  const context = { sql: connection.sql, chain, chainId, log: createLogger("test", "silent") };
  const all = async () => ({
    refuses: !(await compareNonces(context)),
    givesUp: (await overdueServiceTransactions(connection.sql, chainId)).length > 0,
  });
  expect(await all()).toEqual({ refuses: false, givesUp: false });
  await compare();
  await compare(relayer);
  expect(await all()).toEqual({ refuses: true, givesUp: true });
});

test("a stopped wallet that no writer holds any more is not waited for, and is compared once it goes on", async () => {
  const lease = await failOver();
  await connection.sql`insert into service.stop (scope, subject, reason) values ('wallet', ${router}, 'replaced')`;
  const held = async (ago: string) => {
    await connection.sql`
      update service.relayer_wallet set heartbeat_at = now() - ${ago}::interval where address = ${router}`;
    return uncompared();
  };
  // It may have sent something just before it was stopped.
  expect(await held("59 minutes")).toEqual([relayer, router].sort());
  expect(await held("61 minutes")).toEqual([relayer]);
  await fence(lease);
  const [id, another] = [await accepted(), await accepted()];
  expect(await assign(lease, [id])).toMatchObject([{ nonce: 3 + FENCE }]);
  await connection.sql`delete from service.stop`;
  await expect(assign(lease, [another])).rejects.toThrow(NoncesWithheld);
});

test("the keeper's wallet waits for its own comparison only", async () => {
  const lease = await failOver();
  await connection.sql`update service.relayer_wallet set role = 'keeper' where address = ${relayer}`;
  const id = await accepted();
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  await fence(lease);
  expect(await assign(lease, [id])).toHaveLength(1);
});

test("a comparison that was begun before another server took over does not count", async () => {
  await failOver();
  const [one] = await unfencedWallets(connection.sql, chainId);
  if (!one) throw new Error("nothing is to be compared");
  await noteCompared(connection.sql, chainId, { ...one, server: "another" });
  expect(await uncompared()).toHaveLength(2);
  await noteCompared(connection.sql, chainId, one);
  expect(await uncompared()).toHaveLength(1);
});

test("after a server was stopped and started, as a copy that was put back is, after a crash, and on a promoted standby, no comparison counts", async () => {
  const server = await startOwnPostgres("compared");
  await migrateService(server.databaseUrl);
  const primary = connect(server.databaseUrl, { name: "test" });
  atEnd(() => primary.close());
  const count = (sql = primary.sql) =>
    uncompared(sql).then(
      (wallets) => wallets.length,
      () => undefined,
    );
  const compareAll = async () => {
    for (const one of await unfencedWallets(primary.sql, chainId))
      await noteCompared(primary.sql, chainId, one);
  };
  await primary.sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce) values (${chainId}, ${relayer}, 0)`;
  await compareAll();
  expect(await count()).toBe(0);
  await server.stop();
  await server.start();
  await expect.poll(() => count()).toBe(1);
  await compareAll();
  expect(await count()).toBe(0);
  const standby = await startStandby(server.databaseUrl);
  await standby.sql`select pg_promote()`;
  const promoted = connect(standby.databaseUrl, { name: "test" });
  atEnd(() => promoted.close());
  await expect.poll(() => count(promoted.sql)).toBe(1);
  await server.kill();
  await server.start();
  await expect.poll(() => count()).toBe(1);
});
