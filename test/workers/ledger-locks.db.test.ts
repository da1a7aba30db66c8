/** Statements of the ledger beside others that hold its locks. */
import type { Sql } from "postgres";
import { expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { reserveRaises } from "../../workers/ledger/gas-spending.ts";
import { takeLease } from "../../workers/ledger/leases.ts";
import { raiseWatermarks } from "../../workers/ledger/outcomes.ts";
import { openTransactions } from "../../workers/ledger/transactions.ts";
import { mayRest } from "../support/database.ts";
import {
  accepted,
  chainId,
  connection,
  databaseUrl,
  newLease,
  relayer,
  sign,
  untilStatementWaits,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** Runs `work` with a session that is within a transaction. */
async function withOther(work: (other: Sql) => Promise<void>): Promise<void> {
  const other = connect(databaseUrl, { name: "other", max: 1 });
  await other.sql`begin`;
  await mayRest(other.sql);
  try {
    await work(other.sql);
  } finally {
    await other.sql`rollback`;
    await other.close();
  }
}

test("the watermarks of a wallet rise while a signing round holds another wallet of the chain", async () => {
  const held = "0x00000000000000000000000000000000000000cc";
  await newLease(3);
  await takeLease(connection.sql, { chainId, address: held, owner: "they" });
  await connection.sql`update service.relayer_wallet set next_nonce = 3`;
  const watermarks = () => connection.sql`
    select address, open_from::int as open from service.relayer_wallet order by address`;
  await withOther(async (other) => {
    await other`select 1 from service.relayer_wallet where address = ${held} for update`;
    await connection.sql.begin(async (tx) => {
      await tx`set local lock_timeout = '2s'`;
      await tx`select service.raise_watermarks(${chainId}, 0)`;
    });
    expect(await watermarks()).toEqual([
      { address: relayer, open: 3 },
      { address: held, open: 0 },
    ]);
  });
  await raiseWatermarks(connection.sql, chainId, 64n);
  expect(await watermarks()).toMatchObject([{ open: 3 }, { open: 3 }]);
});

test("raises and outcomes lock transactions in one order, so that they do not deadlock", async () => {
  const lease = await newLease();
  await sign(lease, [await accepted(), await accepted()]);
  const [low, high] = await openTransactions(connection.sql, chainId, relayer, 2);
  if (!low || !high) throw new Error("nothing is open");
  // The row of the lower id now comes last in the table.
  await connection.sql`update service.transaction set opened_at = opened_at where id = ${low.id}`;
  const raises = [high, low].map(({ id, reserved }) => ({
    id,
    cost: 2n * reserved,
    reserved,
    isEmpty: false,
  }));
  await withOther(async (other) => {
    const lock = (id: number) => other`select 1 from service.transaction where id = ${id} for update`;
    await lock(low.id);
    const asked = reserveRaises(connection.sql, lease, () => raises);
    await untilStatementWaits();
    await lock(high.id);
    await other`commit`;
    expect(await asked).toHaveLength(2);
  });
});
