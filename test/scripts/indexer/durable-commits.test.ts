/**
 * Postgres crashes right after a commit of Ponder, a connection is lost right before one, or a block's last statement is cancelled.
 * What this proves: no row of a block is missing afterwards, and none is counted twice.
 */
import { beforeAll, test } from "vitest";
import { waitFor } from "../../../scripts/local/wait.ts";
import { expectRowsMatchChain } from "../../src/support/compare-with-chain.ts";
import { chapters, historyContext, trade } from "../../src/support/history.ts";
import { openRows, type Rows, servedSchema } from "../../src/support/rows.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { mayRest } from "../../support/database.ts";
import { type OwnPostgres, startOwnPostgres } from "../../support/own-postgres.ts";
import { startStack } from "../../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";

/** Ponder connects again within a minute. It starts slowly while other tests use both cores. */
const SLOW_MS = 180_000;
/** A commit that does not wait for the disk is written after so many ms at the earliest; it would be lost in a crash before. */
const LATE_MS = 10_000;

let chain: TestChain;
let postgres: OwnPostgres;
/** Between the indexer and Postgres. */
let link: TcpProxy;
let rows: Rows;

beforeAll(async () => {
  chain = await startChain({ retired: false });
  postgres = await startOwnPostgres("commits", { wal_writer_delay: LATE_MS });
  link = await startTcpProxy(postgres.databaseUrl);
  await startStack({ chain, services: ["indexer"], databaseUrl: link.url });
  rows = openRows(postgres.databaseUrl);
  atEnd(() => rows.close());
  // Prices at purchases are read from the index's start on: this chain lacks the state of its first block.
  for (const chapter of chapters) await chapter.play(historyContext(chain));
  await rows.caughtUp(chain.client);
});

/** Mines one more block, so that the index must go on, and compares all rows with the chain. */
async function expectEveryRow(): Promise<void> {
  await chain.client.mine({ blocks: 1 });
  await rows.caughtUp(chain.client, SLOW_MS);
  await expectRowsMatchChain(rows, chain);
}

test("Postgres crashes right after a block is indexed: the index has every row of it", async () => {
  await trade(historyContext(chain));
  await rows.caughtUp(chain.client);
  await postgres.kill();
  await postgres.start();
  await expectEveryRow();
});

test("the connection is lost before a commit reaches Postgres: the index has every row of the block", async () => {
  // Ponder's last statement before the commit. Postgres answers it and receives nothing more.
  link.swallowAfter((sent) => sent.includes('set "latest_checkpoint"'));
  await trade(historyContext(chain));
  await waitFor({
    what: "a transaction that waits for its commit",
    probe: async () => {
      const [waiting] = await rows.sql`
        select from pg_stat_activity
        where state = 'idle in transaction' and query ~ '^update "idx_.*_ponder_checkpoint'`;
      return waiting && true;
    },
  });
  link.swallowAfter(() => false);
  await link.cut();
  await link.mend();
  await expectEveryRow();
});

test("a block's last statement is cancelled: the indexer goes on, and the index has every row of the block", async () => {
  const schema = (await servedSchema(rows.sql)) ?? "";
  const holder = await rows.sql.reserve();
  await holder`begin`;
  await mayRest(holder);
  await holder`select from ${holder(schema)}._ponder_checkpoint for update`;
  await trade(historyContext(chain));
  const watcher = openRows(postgres.databaseUrl);
  await waitFor({
    what: "the statement to be cancelled",
    probe: async () => {
      const cancelled = await watcher.sql`
        select pg_cancel_backend(pid) from pg_stat_activity
        where wait_event_type = 'Lock' and query ~ '^update .*_ponder_checkpoint'`;
      return cancelled.length > 0 || undefined;
    },
  });
  await watcher.close();
  await holder`rollback`;
  holder.release();
  await expectEveryRow();
});
