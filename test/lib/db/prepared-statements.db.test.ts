/**
 * A statement for many rows takes its ids as one array. With a parameter for each id there would be a prepared statement for
 * each count of ids, which the server keeps as long as the connection: 95 MB for counts up to a thousand.
 */
import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { readClaims } from "../../../api/faucet/claims.ts";
import { createKeyFinder } from "../../../api/http/api-keys.ts";
import { readProofs } from "../../../api/oracle/queries.ts";
import { connect } from "../../../lib/db/connect.ts";
import { createPurchaseWaiter } from "../../../lib/ledger/waiter.ts";
import { noteSent, withheldHashes } from "../../../workers/ledger/transactions.ts";
import { readWaiting } from "../../../workers/ledger/waiting.ts";
import { claimDeliveries, releaseLeases } from "../../../workers/webhooks/claim-deliveries.ts";
import { createHostLookup } from "../../../workers/webhooks/receiver-hosts.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

let databaseUrl: string;
let sql: Sql;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  // One session, which is never idle for long: its prepared statements are all that were made.
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(connection.close);
  sql = connection.sql;
});

async function prepared(): Promise<string[]> {
  const rows = await sql<{ statement: string }[]>`select statement from pg_prepared_statements`;
  return rows.map(({ statement }) => statement);
}

test("waiting for one to a thousand purchases at once prepares one statement", async () => {
  const waiter = createPurchaseWaiter(databaseUrl, sql);
  atEnd(() => waiter.close());
  const before = (await prepared()).length;
  // A poll reads all that are waited for, and each second fewer are.
  const waits = Array.from({ length: 1000 }, async (_, n) => waiter.wait(randomUUID(), 1000 + 3 * n));
  const outcomes = await Promise.allSettled(waits);
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  const reads = (await prepared()).filter((statement) => statement.includes("service.purchase"));
  expect(before).toBeLessThan(5);
  expect(reads).toHaveLength(1);
});

const writer = { chainId: 8453, token: randomUUID() };
const uuids = (count: number) => Array.from({ length: count }, () => randomUUID());
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1));
const hashes = (count: number) =>
  Array.from({ length: count }, (_, n) => `0x${n.toString(16).padStart(64, "0")}` as const);

/** Runs each statement for this many rows. */
const statements: Record<string, (count: number) => Promise<unknown>> = {
  "prices that were asked for": (count) => readProofs(sql, uuids(count)),
  "claims to the faucet": (count) => readClaims(sql, uuids(count)),
  "accepted purchases": (count) => readWaiting(sql, 8453, uuids(count)),
  "transactions that are stopped": (count) => withheldHashes(sql, hashes(count)),
  "transactions that were sent": (count) =>
    noteSent(
      sql,
      hashes(count).map((hash) => ({ hash, taken: true, again: true })),
    ),
  "API keys": (count) => {
    const find = createKeyFinder(sql);
    return Promise.all(hashes(count).map((key) => find(key)));
  },
  "hosts of webhooks": (count) => {
    const hostOf = createHostLookup(sql);
    return Promise.all(numbers(count).map((id) => hostOf(id)));
  },
  "deliveries to claim": (count) => claimDeliveries(sql, writer, numbers(count)),
  "leases of webhooks": (count) => releaseLeases(sql, writer, numbers(count)),
};

test.each(Object.entries(statements))("%s: the same statements for one row and for many", async (_, run) => {
  await run(1);
  await run(2);
  const few = (await prepared()).toSorted();
  for (const count of [3, 17, 100, 1000]) await run(count);
  expect((await prepared()).toSorted()).toEqual(few);
});
