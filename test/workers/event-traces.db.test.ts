/**
 * What this proves: an event in the transaction of a purchase that was made with a `traceparent` is delivered with it, also once
 * its purchase is archived, and no other event is.
 */
import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { beforeEach, expect, test } from "vitest";
import type { ChainEvent, StoredEvent } from "../../workers/outbox/event.ts";
import { createBatch } from "../../workers/outbox/fan-out.ts";
import { storeEvents } from "../../workers/outbox/store-events.ts";
import { claimDeliveries } from "../../workers/webhooks/claim-deliveries.ts";
import { newTrace } from "../support/trace.ts";
import {
  accept,
  accepted,
  chainId,
  connection,
  newPurchase,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";
import { archive, oldPurchases } from "./support/old-purchases.ts";

useLedgerDatabase();

const writer = { chainId, token: randomUUID() };
let webhookId: string;
beforeEach(async () => {
  const { sql } = connection;
  await sql`truncate service.webhook, service.event, service.outbox restart identity cascade`;
  await sql`insert into service.outbox (chain_id, final_block, final_time, processed_block) values (${chainId}, 0, 0, 0)`;
  const [webhook] = await sql<{ id: string }[]>`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
    values (${chainId}, ${wallet}, 'https://example.com/', '{bond_minted,token_burned}', 'sealed', 0, -1, 0)
    returning id::text`;
  webhookId = webhook?.id ?? "";
});

/** An event of the wallet, or a burn, in a transaction. */
function eventIn(
  txHash: Hex,
  index: number,
  type: "bond_minted" | "token_burned" = "bond_minted",
): ChainEvent {
  const common = {
    ...{ block: { number: 7n, hash: word(7), timestamp: 1_700_000_000n }, log: { index, txHash } },
    ...{ key: `${txHash}-${index}`, occurrence: 1 },
  };
  return type === "token_burned"
    ? {
        ...{ ...common, type, parties: [] },
        data: { burner: wallet, source: "direct", tokenAmount: "1", usdcSpent: "0", effectivePrice: null },
      }
    : {
        ...{ ...common, type, parties: [wallet] },
        data: { bondId: "1", holder: wallet, amount: "1", productId: null, policyId: null },
      };
}

/** Stores new events and reversals as a run of the outbox does. */
async function store(events: readonly ChainEvent[], reverted: readonly StoredEvent[] = []): Promise<void> {
  const [row] = await connection.sql<{ version: string }[]>`
    select version::text as version from service.outbox where chain_id = ${chainId}`;
  const at = { finalBlock: 0n, processedBlock: 7n };
  const cursor = { ...at, finalTime: 0n, taken: undefined, version: row?.version ?? "0" };
  const orphaned = reverted.map((event) => ({
    kind: "orphaned" as const,
    event,
    canonicalBlockHash: word(8),
  }));
  const plan = { ...at, reverted: orphaned, events, takenBlock: undefined, timeIsFinal: false, more: false };
  await storeEvents(connection.sql, chainId, { cursor, plan, finalTime: 0n, taken: undefined });
  while (await createBatch(connection.sql, chainId));
}

/** Type and trace of each event that a writer would send now. */
async function claimed(): Promise<[type: string, traceparent: string | null][]> {
  const batch = (await claimDeliveries(connection.sql, writer, [webhookId])).get(webhookId);
  return (batch?.deliveries ?? []).map(({ body, traceparent }) => [
    String(JSON.parse(body).type),
    traceparent,
  ]);
}

test("an event of the purchase's transaction carries the trace; a burn in it, and events of other transactions, do not", async () => {
  const traceparent = newTrace();
  const [traced = "0x", untraced = "0x"] = await oldPurchases([
    await accepted({ traceparent }),
    await accepted(),
  ]);
  await store([
    eventIn(traced, 0),
    eventIn(traced, 1, "token_burned"),
    eventIn(untraced, 2),
    eventIn(word(99), 3),
  ]);
  const expected = [
    ["bond_minted", traceparent],
    ["token_burned", null],
    ["bond_minted", null],
    ["bond_minted", null],
  ];
  expect(await claimed()).toEqual(expected);
  // As a retry or a replay, when the ledger no longer has the transaction.
  expect(await archive()).toBe(2);
  expect(await claimed()).toEqual(expected);
});

test("its reversal carries the same trace", async () => {
  const traceparent = newTrace();
  const [txHash = "0x"] = await oldPurchases([await accepted({ traceparent })]);
  await store([eventIn(txHash, 0)]);
  expect(await claimed()).toEqual([["bond_minted", traceparent]]);
  const [row] = await connection.sql<{ seq: string; id: string; body: string }[]>`
    select seq::text, id, body from service.event`;
  if (!row) throw new Error("no event");
  const place = { blockNumber: "7", blockHash: word(7), txHash, logIndex: 0 };
  await store([], [{ ...row, ...place, type: "bond_minted", parties: [wallet], indexed: false }]);
  expect(await claimed()).toEqual([["event_reverted", traceparent]]);
});

test("a call that joins a purchase leaves it the trace of the call that made it", async () => {
  const [first, second] = [newTrace(), newTrace()];
  const id = await accepted({ idempotencyKey: "k", traceparent: first });
  expect(await accept(newPurchase({ idempotencyKey: "k", traceparent: second }))).toMatchObject({
    outcome: "joined",
    purchase: { id },
  });
  expect(await connection.sql`select purchase_id, traceparent from service.purchase_trace`).toEqual([
    { purchase_id: id, traceparent: first },
  ]);
});
