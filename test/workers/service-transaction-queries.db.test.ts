/** The queries of waiting service transactions: their plans in a large ledger, and whether a claim is partly signed. */
import { beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../lib/db/connect.ts";
import {
  giveUp,
  overdueServiceTransactions,
  waitingServiceTransactions,
} from "../../workers/ledger/service-transactions.ts";
import {
  chainId,
  createClaim,
  databaseUrl,
  faucet,
  signTransfers,
  useDatabase,
} from "../api/faucet/support/database.ts";
import { atEnd } from "../support/cleanup.ts";

useDatabase();

/** Transactions of the main chain's relayer: so many that Postgres scans them only where it lacks an index. */
const SENT = 30_000;
const CLAIMS = 20;

/** A single session, because a session reports its own statistics on request. */
let sql: Connection["sql"];

/** Rows that full scans of `service.transaction` have read so far. */
async function rowsScanned(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: string }[]>`
    select seq_tup_read as rows from pg_stat_user_tables where schemaname = 'service' and relname = 'transaction'`;
  return Number(row?.rows);
}

async function scannedBy(work: () => Promise<unknown>): Promise<number> {
  const before = await rowsScanned();
  await work();
  return (await rowsScanned()) - before;
}

let claims: string[];
beforeAll(async () => {
  const single = connect(databaseUrl, { name: "test-plans", max: 1 });
  atEnd(() => single.close());
  sql = single.sql;
  const relayer = `0x${"ab".repeat(20)}`;
  await sql`insert into service.relayer_wallet (chain_id, address) values (8453, ${relayer}) on conflict do nothing`;
  await sql`
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, lost_to)
    select 8453, ${relayer}, n, 'filler', ${relayer}, '0x', 21000, ${`0x${"1".repeat(64)}`} from generate_series(1, ${SENT}::int) n`;
  await sql`analyze service.transaction`;
  claims = [];
  for (let n = 0; n < CLAIMS; n += 1) claims.push(await createClaim(n));
});

test("signing claims, finding overdue ones and giving one up scan no rows", async () => {
  expect(await scannedBy(() => sql`select count(data) from service.transaction`)).toBe(SENT);
  const scanned = await scannedBy(async () => {
    expect(await waitingServiceTransactions(sql, chainId, faucet, 50)).toHaveLength(CLAIMS);
    await sql`update service.waiting set created_at = now() - interval '2 minutes'`;
    expect(await overdueServiceTransactions(sql, chainId)).toHaveLength(CLAIMS);
    const [id = ""] = claims;
    expect(await giveUp(sql, { id, claimId: id }, { code: "claim_expired", message: "late" })).toBe(true);
  });
  expect(scanned).toBe(0);
});

test("a claim is partly signed once one of its transfers is, and can then not be given up", async () => {
  const id = await createClaim(0);
  const partlySigned = async () =>
    (await waitingServiceTransactions(sql, chainId, faucet, 1)).map((group) => group.partlySigned);
  expect(await partlySigned()).toEqual([false]);
  await signTransfers(id, "faucet_ether");
  expect(await partlySigned()).toEqual([true]);
  expect(await giveUp(sql, { id, claimId: id }, { code: "claim_expired", message: "late" })).toBe(false);
});

test("an overdue claim waits while the faucet's wallet was not compared: it may have been sent", async () => {
  const id = await createClaim(1);
  await sql`update service.waiting set created_at = now() - interval '2 minutes'`;
  const overdue = async () => (await overdueServiceTransactions(sql, chainId)).map((group) => group.id);
  await sql`update service.relayer_wallet set next_nonce = 0, compared_with = null where address = ${faucet}`;
  expect(await overdue()).toEqual([]);
  await sql`update service.relayer_wallet set compared_with = pg_postmaster_start_time() where address = ${faucet}`;
  expect(await overdue()).toEqual([id]);
});
