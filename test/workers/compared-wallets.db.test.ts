/** After commits may have been lost, each wallet is compared with the chain, whoever holds it, before any gets a nonce. */
import { afterEach, expect, test } from "vitest";
import { createReadClient } from "../../lib/chain/client.ts";
import { connect } from "../../lib/db/connect.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { createLogger } from "../../lib/log.ts";
import { NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import { noteCompared, uncomparedWallets } from "../../workers/ledger/compared-wallets.ts";
import { startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { overdueServiceTransactions } from "../../workers/ledger/service-transactions.ts";
import { mayLackGiven } from "../../workers/ledger/unknown-transactions.ts";
import { compareNonces, compareUncompared, type LackSeen } from "../../workers/relayer/compare-nonces.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { startStandby } from "../support/standby.ts";
import {
  accepted,
  assign,
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

/** The time of a head of a node that is behind, and of a later one than anything here, in Unix seconds. */
const BEHIND = 1n;
const LATER = 2n ** 40n;

/** A writer's wallet with nonce 3 next, and one of a writer that died, with nonce 0 next. The promoted database has compared neither. */
async function failOver() {
  const lease = await newLease(3);
  const other = await takeLease(connection.sql, { chainId, address: router, owner: "died" });
  if (!other) throw new Error("no lease");
  await startNonces(connection.sql, other, 0);
  await connection.sql`delete from service.compared_wallet`;
  return lease;
}

/** Compares with a node that has these counts of both wallets, and a head of this time. */
function compare(counts: readonly [number, number], timestamp: bigint, seen?: LackSeen) {
  const head = { number: 9n, hash: word(9), parentHash: word(8), timestamp, baseFee: 1n, transactions: [] };
  const chain = {
    // No node answers there: it is not known to be anvil.
    client: createReadClient({ chainId, name: "test" }, "http://127.0.0.1:1"),
    block: async () => head,
    nonce: async (address: string) => counts[address === relayer ? 0 : 1],
  };
  return compareUncompared(
    { sql: connection.sql, chain, chainId, log: createLogger("test", "silent") },
    seen,
  );
}

test("no wallet gets a nonce before all were compared at a later head", async () => {
  const lease = await failOver();
  const id = await accepted();
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  const seen = await compare([3, 0], BEHIND);
  expect(seen).toBeDefined();
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  expect(await compare([3, 0], LATER, seen)).toBeUndefined();
  expect(await assign(lease, [id])).toMatchObject([{ nonce: 3 }]);
});

test("a transaction of a wallet that nobody holds any more is found, and stops the others", async () => {
  const lease = await failOver();
  expect(await compare([3, 1], LATER)).toBeUndefined();
  expect(await unknownNonces(connection.sql, chainId)).toMatchObject([{ wallet: router, nonce: 0 }]);
  await expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
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
    refusesWithoutNode: !(await mayLackGiven(connection.sql, chainId, new Map())),
    givesUp: (await overdueServiceTransactions(connection.sql, chainId, new Map())).length > 0,
  });
  expect(await all()).toEqual({ refuses: false, refusesWithoutNode: false, givesUp: false });
  await compare([3, 0], LATER);
  expect(await all()).toEqual({ refuses: true, refusesWithoutNode: true, givesUp: true });
});

test("a stopped wallet that no writer holds any more is not waited for, and is compared once it goes on", async () => {
  const lease = await failOver();
  await connection.sql`insert into service.stop (scope, subject, reason) values ('wallet', ${router}, 'replaced')`;
  const held = async (ago: string) => {
    await connection.sql`
      update service.relayer_wallet set heartbeat_at = now() - ${ago}::interval where address = ${router}`;
    return (await uncomparedWallets(connection.sql, chainId)).map(({ address }) => address).sort();
  };
  // It may have sent something just before it was stopped.
  expect(await held("59 minutes")).toEqual([relayer, router].sort());
  expect(await held("61 minutes")).toEqual([relayer]);
  expect(await compare([3, 1], LATER)).toBeUndefined();
  const [id, another] = [await accepted(), await accepted()];
  expect(await assign(lease, [id])).toMatchObject([{ nonce: 3 }]);
  await connection.sql`delete from service.stop`;
  await expect(assign(lease, [another])).rejects.toThrow(NoncesWithheld);
});

test("the keeper's wallet waits for its own comparison only", async () => {
  const lease = await failOver();
  await connection.sql`update service.relayer_wallet set role = 'keeper' where address = ${relayer}`;
  const id = await accepted();
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  await connection.sql`insert into service.compared_wallet values (${chainId}, ${relayer})`;
  expect(await assign(lease, [id])).toHaveLength(1);
});

test("a comparison that was begun before another server took over does not count", async () => {
  await failOver();
  const [one] = await uncomparedWallets(connection.sql, chainId);
  if (!one) throw new Error("nothing is to be compared");
  await noteCompared(connection.sql, chainId, { ...one, server: "another" });
  expect(await uncomparedWallets(connection.sql, chainId)).toHaveLength(2);
  await noteCompared(connection.sql, chainId, one);
  expect(await uncomparedWallets(connection.sql, chainId)).toHaveLength(1);
});

test("after a server was stopped and started, as a copy that was put back is, after a crash, and on a promoted standby, no comparison counts", async () => {
  const server = await startOwnPostgres("compared");
  await migrateService(server.databaseUrl);
  const primary = connect(server.databaseUrl, { name: "test" });
  atEnd(() => primary.close());
  const uncompared = (sql = primary.sql) =>
    uncomparedWallets(sql, chainId).then(
      (wallets) => wallets.length,
      () => undefined,
    );
  const compareAll = async () => {
    for (const one of await uncomparedWallets(primary.sql, chainId))
      await noteCompared(primary.sql, chainId, one);
  };
  await primary.sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce) values (${chainId}, ${relayer}, 0)`;
  await compareAll();
  expect(await uncompared()).toBe(0);
  await server.stop();
  await server.start();
  await expect.poll(() => uncompared()).toBe(1);
  await compareAll();
  expect(await uncompared()).toBe(0);
  const standby = await startStandby(server.databaseUrl);
  await standby.sql`select pg_promote()`;
  const promoted = connect(standby.databaseUrl, { name: "test" });
  atEnd(() => promoted.close());
  await expect.poll(() => uncompared(promoted.sql)).toBe(1);
  await server.kill();
  await server.start();
  await expect.poll(() => uncompared()).toBe(1);
});
