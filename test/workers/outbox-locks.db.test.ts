/**
 * What this proves: overlapping requests under the shared outbox lock do not starve the outbox; and a request that failed for
 * its client changes nothing afterwards.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { createWebhook, listWebhooks } from "../../api/webhooks/store.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { type Connection, connect, isConnectionError } from "../../lib/db/connect.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import { abortableTransaction, lockOutboxShared, outboxLock } from "../../lib/webhooks/outbox-lock.ts";
import type { ChainEvent } from "../../workers/outbox/event.ts";
import { storeEvents } from "../../workers/outbox/store-events.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest, waitForLockWaiter } from "../support/database.ts";

const CHAIN = 31_337;
const owner = { chain: CHAIN, wallet: "0x00000000000000000000000000000000000000aa" } as const;
const webhook = { url: "https://example.com/", events: ["*"], secret: "sealed", head: 1n };
const neverAborted = new AbortController().signal;

let clients: Connection;
let outbox: Connection;
beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  clients = connect(asApi(databaseUrl), { name: "clients", statementTimeout: 30_000 });
  outbox = connect(databaseUrl, { name: "outbox", max: 1, statementTimeout: 30_000 });
  atEnd(clients.close);
  atEnd(outbox.close);
  await outbox.sql`
    insert into service.outbox (chain_id, final_block, final_time, processed_block) values (${CHAIN}, 0, 0, 0)`;
});

const burn = (block: bigint): ChainEvent => ({
  type: "token_burned",
  block: { number: block, hash: `0x${"1f".repeat(32)}`, timestamp: 1_700_000_000n },
  log: { index: 0, txHash: `0x${"2e".repeat(32)}` },
  key: `burn-${block}`,
  occurrence: 1,
  parties: [],
  data: { burner: owner.wallet, source: "direct", tokenAmount: "1", usdcSpent: "0", effectivePrice: null },
});

async function storeBurn(block: bigint) {
  const [row] = await outbox.sql<{ version: string }[]>`
    select version::text as version from service.outbox where chain_id = ${CHAIN}`;
  const cursor = {
    finalBlock: 0n,
    finalTime: 0n,
    processedBlock: 0n,
    taken: undefined,
    version: row?.version ?? "0",
  };
  const plan = { reverted: [], events: [burn(block)], finalBlock: 0n, processedBlock: block };
  return storeEvents(outbox.sql, CHAIN, {
    cursor,
    plan: { ...plan, takenBlock: undefined, timeIsFinal: false, more: false },
    finalTime: 0n,
    taken: undefined,
  });
}

/** Postgres's error code for a lock timeout. */
const LOCK_TIMEOUT = "55P03";

test("overlapping shared locks do not starve the outbox", async () => {
  let over = false;
  let held = 0;
  const holders = Array.from({ length: 4 }, async (_, n) => {
    await sleep(75 * n);
    while (!over) {
      await abortableTransaction(clients.sql, neverAborted, async (tx) => {
        await lockOutboxShared(tx, CHAIN);
        await tx`select pg_sleep(0.3)`;
      }).then(
        () => {
          held += 1;
        },
        // As a client does, it asks again: this process stood still, and the wait for the lock was over.
        (error: unknown) => {
          if (sqlState(error) !== LOCK_TIMEOUT) throw error;
        },
      );
    }
  });
  const waits: number[] = [];
  try {
    await expect.poll(() => held).toBeGreaterThanOrEqual(4);
    for (let block = 1n; block <= 4n; block += 1n) {
      const began = performance.now();
      expect(await storeBurn(block)).toEqual([]);
      waits.push(performance.now() - began);
    }
  } finally {
    over = true;
  }
  await Promise.all(holders);
  // The time of one round of shared locks, with a margin for a busy machine.
  expect(Math.max(...waits)).toBeLessThan(10_000);
  expect(held).toBeGreaterThan(4);
});

test("a request fails when the outbox holds its lock for long, and creates nothing", async () => {
  await outbox.sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(CHAIN)}, 0))`;
    const error = await createWebhook(clients.sql, owner, webhook, neverAborted).catch(
      (reason: unknown) => reason,
    );
    expect(isConnectionError(error)).toBe(true);
  });
  expect((await listWebhooks(clients.sql, owner, { limit: 1, offset: 0 })).total).toBe(0);
});

test("a request that was answered as failed creates nothing, also when it waits for its last lock", async () => {
  const request = new AbortController();
  const { creating } = await outbox.sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(CHAIN)}, 0))`;
    const result = createWebhook(clients.sql, owner, webhook, request.signal).catch(
      (reason: unknown) => reason,
    );
    await waitForLockWaiter(tx);
    request.abort(new Error("answered"));
    return { creating: result };
  });
  expect(await creating).toMatchObject({ message: "answered" });
  expect((await listWebhooks(clients.sql, owner, { limit: 1, offset: 0 })).total).toBe(0);
  expect(await createWebhook(clients.sql, owner, webhook, neverAborted)).toMatchObject({
    webhook: { state: "active" },
  });
});
