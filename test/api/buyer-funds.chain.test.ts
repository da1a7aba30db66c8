/** How often buyers without enough funds make the api poll the database. */
import { type Address, numberToHex } from "viem";
import { expect, test } from "vitest";
import { createBuyerFunds } from "../../api/buying/buyer-funds.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const CALLERS = 40;
/** One poll every 50 ms for 3 s. */
const POLLS = 60;

test("callers that wait for the writer at the same time share one poll of the database", async () => {
  const chain = await startChain();
  const databaseUrl = await freshDatabase();
  const connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const { sql } = connection;
  const { deployment } = chain;
  await sql`insert into service.watched_block (chain_id, number, hash) values (${deployment.chainId}, 1, '0x')`;
  const scans = async () => {
    const [row] = await sql<{ scans: string }[]>`
      select coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as scans from pg_stat_user_tables
      where schemaname = 'service' and relname = 'watched_block'`;
    return Number(row?.scans);
  };
  const before = await scans();

  const head = await chain.client.getBlock();
  const fundsOver = (on: Connection) =>
    createBuyerFunds(
      { connection: on, deployment },
      { head: async () => head, funds: async () => ({ balance: 1n, allowance: 1n }) },
    );
  const callers = connect(asApi(databaseUrl), { name: "callers" });
  const buyers = Array.from({ length: CALLERS }, (_, n): Address => numberToHex(n + 1, { size: 20 }));
  const separate = fundsOver(callers);
  const answers = await Promise.all(buyers.map((buyer) => separate.newest(buyer)));
  expect(answers.map(({ settled }) => settled)).toEqual(buyers.map(() => false));

  // Postgres adds a session's counts to its statistics by the time the session has ended.
  await callers.close();
  const sessions = async () =>
    (
      await sql`select 1 from pg_stat_activity where datname = current_database() and application_name = 'callers'`
    ).length;
  await expect.poll(sessions).toBe(0);
  const made = (await scans()) - before;
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(POLLS * 2);

  // When the writer settles the newest block, the wait ends with that block.
  const funds = fundsOver(connection);
  const waiting = Promise.all(buyers.map((buyer) => funds.newest(buyer)));
  await sql`update service.watched_block set number = ${String(head.number)}::bigint`;
  const settled = await waiting;
  expect(settled.map((answer) => [answer.settled, answer.funds.block])).toEqual(
    buyers.map(() => [true, head.number]),
  );
});

test("of purchases of one buyer that are recorded at the same time, all but the first get its funds, from one read", async () => {
  const connection = connect(await freshDatabase(), { name: "test" });
  atEnd(() => connection.close());
  await connection.sql`insert into service.watched_block (chain_id, number, hash) values (8453, 7, '0x')`;
  const [busy, quiet] = [numberToHex(1, { size: 20 }), numberToHex(2, { size: 20 })];
  async function recordFour() {
    let reads = 0;
    const funds = createBuyerFunds(
      { connection, deployment: { chainId: 8453 } },
      {
        head: () => Promise.reject(new Error("nobody asks for the head")),
        async funds(_buyer, block) {
          reads += 1;
          return { balance: block, allowance: 1n };
        },
      },
    );
    const recorded = await Promise.all(
      [busy, busy, quiet, busy].map((buyer) => funds.whileRecording(buyer, async (known) => known)),
    );
    return { funds, recorded, reads };
  }
  const { funds, recorded, reads } = await waitFor({
    what: "funds that a busy machine has read within the tenth of a second that a purchase waits for them",
    probe: async () => {
      const tried = await recordFour();
      return tried.recorded[1] && tried.recorded[3] ? tried : undefined;
    },
  });
  const known = { block: 7n, balance: 7n, allowance: 1n };
  expect(recorded).toEqual([undefined, known, undefined, known]);
  expect(reads).toBe(1);
  expect(await funds.whileRecording(busy, async (again) => again)).toEqual(known);
  expect(await funds.whileRecording(quiet, async (again) => again)).toBeUndefined();
});
