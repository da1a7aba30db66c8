/** What this proves: whether anything of an errand was signed is looked up, however much the ledger has sent. */
import { beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { acceptedErrands, giveUp, overdueErrands } from "../../workers/ledger/errands.ts";
import { chainId, claimed, databaseUrl, faucet, withDesk } from "../api/faucet/support/desk.ts";
import { atEnd } from "../support/cleanup.ts";

withDesk();

/** What the main chain's relayer has sent: enough that nobody reads it from end to end for want of a better plan. */
const SENT = 30_000;
const CLAIMS = 20;

/** One session, which tells its counts when it is asked to. */
let sql: Connection["sql"];

/** Rows of `service.transaction` that scans of the whole table have read so far. */
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
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, state)
    select 8453, ${relayer}, n, 'filler', ${relayer}, '0x', 21000, 'final' from generate_series(1, ${SENT}::int) n`;
  await sql`analyze service.transaction`;
  claims = [];
  for (let n = 0; n < CLAIMS; n += 1) claims.push(await claimed(n));
});

test("to sign claims, to find those that nobody signed in time, and to take one back", async () => {
  expect(await scannedBy(() => sql`select count(data) from service.transaction`)).toBe(SENT);
  const scanned = await scannedBy(async () => {
    expect(await acceptedErrands(sql, chainId, faucet, 50)).toHaveLength(CLAIMS);
    await sql`update service.errand set created_at = now() - interval '2 minutes'`;
    expect(await overdueErrands(sql, chainId)).toHaveLength(CLAIMS);
    const [id = ""] = claims;
    expect(await giveUp(sql, { id, claimId: id }, { code: "claim_expired", message: "late" })).toBe(true);
  });
  expect(scanned).toBe(0);
});
