/**
 * What this proves: those who hold the outbox together, one after the other without a pause, keep no pass waiting; and what a
 * client is told has failed is not done afterwards.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { createWebhook, listWebhooks } from "../../api/webhooks/store.ts";
import { type Connection, connect, isConnectionError } from "../../lib/db/connect.ts";
import { holdOutbox, outboxLock, whileWanted } from "../../lib/webhooks/outbox-lock.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import type { ChainEvent } from "../../workers/outbox/event.ts";
import { writePass } from "../../workers/outbox/write.ts";
import { untilLockWanted } from "../api/support/webhook-desk.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest } from "../support/database.ts";

const CHAIN = 31_337;
const owner = { chain: CHAIN, wallet: "0x00000000000000000000000000000000000000aa" } as const;
const wish = { url: "https://example.com/", events: ["*"], secret: "sealed", head: 1n };
const whenever = new AbortController().signal;

let clients: Connection;
let outbox: Connection;
beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  clients = connect(databaseUrl, { name: "clients", statementTimeout: 30_000 });
  outbox = connect(databaseUrl, { name: "outbox", max: 1, statementTimeout: 30_000 });
  atEnd(clients.close);
  atEnd(outbox.close);
  await outbox.sql`
    insert into service.outbox (chain_id, final_block, final_time, passed_block) values (${CHAIN}, 0, 0, 0)`;
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

async function pass(block: bigint) {
  const [row] = await outbox.sql<{ pass: string }[]>`
    select pass::text from service.outbox where chain_id = ${CHAIN}`;
  const cursor = { finalBlock: 0n, finalTime: 0n, passedBlock: 0n, pass: row?.pass ?? "0" };
  const plan = { reverted: [], events: [burn(block)], finalBlock: 0n, passedBlock: block };
  return writePass(outbox.sql, CHAIN, {
    cursor,
    plan: { ...plan, timeIsFinal: false, again: false },
    finalTime: 0n,
  });
}

test("many who hold the outbox, each before the last one ends, keep no pass waiting", async () => {
  let over = false;
  let held = 0;
  const holders = Array.from({ length: 4 }, async (_, n) => {
    await sleep(75 * n);
    while (!over) {
      await whileWanted(clients.db, whenever, async (tx) => {
        await holdOutbox(tx, CHAIN);
        await tx.execute(sql`select pg_sleep(0.3)`);
      });
      held += 1;
    }
  });
  await waitFor({
    what: "each of them to have held it",
    probe: () => (held >= 4 ? true : undefined),
    timeoutMs: 60_000,
  });
  const waits: number[] = [];
  for (let block = 1n; block <= 4n; block += 1n) {
    const began = performance.now();
    expect(await pass(block)).toEqual([]);
    waits.push(performance.now() - began);
  }
  over = true;
  await Promise.all(holders);
  // One round of theirs, and some for a busy machine.
  expect(Math.max(...waits)).toBeLessThan(10_000);
  expect(held).toBeGreaterThan(4);
});

test("a call gives up when a pass takes long, and makes nothing", async () => {
  const began = performance.now();
  await outbox.sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(CHAIN)}, 0))`;
    const error = await createWebhook(clients.db, owner, wish, whenever).catch((reason: unknown) => reason);
    expect(isConnectionError(error)).toBe(true);
  });
  expect(performance.now() - began).toBeLessThan(4000);
  expect((await listWebhooks(clients.db, owner, { limit: 1, offset: 0 })).total).toBe(0);
});

test("a call whose client was told that it has failed makes nothing, be it as far as it may", async () => {
  const told = new AbortController();
  const { making } = await outbox.sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(CHAIN)}, 0))`;
    const result = createWebhook(clients.db, owner, wish, told.signal).catch((reason: unknown) => reason);
    await untilLockWanted(tx);
    told.abort(new Error("told"));
    return { making: result };
  });
  expect(await making).toMatchObject({ message: "told" });
  expect((await listWebhooks(clients.db, owner, { limit: 1, offset: 0 })).total).toBe(0);
  expect(await createWebhook(clients.db, owner, wish, whenever)).toMatchObject({ state: "active" });
});
