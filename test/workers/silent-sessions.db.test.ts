/** A writer that is suspended in the middle of a transaction blocks no other writer for good. */
import { expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { endSilentSessions } from "../../workers/ledger/housekeeping.ts";
import { takeLease } from "../../workers/ledger/leases.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import {
  chainId,
  connection,
  databaseUrl,
  newLease,
  relayer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** The message with which postgres.js asks for the description of a statement before it runs it. */
const FLUSH = Buffer.from([0x48, 0, 0, 0, 4]);

/** Suspends a writer that has locked its wallet, after it asked for the next statement's description. */
async function suspendedWriter(name: string) {
  const proxy = await startTcpProxy(databaseUrl);
  const suspended = connect(proxy.url, { name, max: 1 });
  const ended = suspended.sql.begin(async (tx) => {
    await tx`select 1 from service.relayer_wallet for update`;
    proxy.swallowAfter((sent) => sent.subarray(-FLUSH.length).equals(FLUSH));
    await tx`select ${1}::int`;
  });
  const outcome = ended.then(
    () => "committed",
    () => "ended",
  );
  await waitFor({
    what: "the server to wait for the suspended writer",
    probe: async () => {
      const waiting = await connection.sql`
        select 1 from pg_stat_activity where application_name = ${name} and datname = current_database()
        and state = 'active' and wait_event = 'ClientRead'`;
      return waiting.length > 0 || undefined;
    },
  });
  return { outcome, close: suspended.close };
}

test("the wallets of a writer that is suspended between two messages of a transaction are free for another", async () => {
  await newLease();
  await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
  const { outcome, close } = await suspendedWriter("writer");
  const taken = takeLease(connection.sql, { chainId, address: relayer, owner: "they" });
  expect(await endSilentSessions(connection.sql, 0)).toBe(1);
  expect(await taken).toMatchObject({ owner: "they" });
  expect(await outcome).toBe("ended");
  await close();
});

test("only a writer's sessions are ended, and only those that were silent for long", async () => {
  const writer = await suspendedWriter("writer");
  const other = await suspendedWriter("psql");
  expect(await endSilentSessions(connection.sql, 3600)).toBe(0);
  expect(await endSilentSessions(connection.sql, 0)).toBe(1);
  expect(await writer.outcome).toBe("ended");
  const ended = await connection.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'psql' and datname = current_database()`;
  expect(ended).toHaveLength(1);
  await Promise.all([other.outcome, writer.close(), other.close()]);
});
