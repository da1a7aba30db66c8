/** Archived purchases: whole, with the same answers as before, and only old ones. */
import { describe, expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { entryHistory } from "../../scripts/ledger/entry-history.ts";
import { archivePurchases } from "../../workers/ledger/housekeeping.ts";
import {
  confirmBlocks,
  dropBlocks,
  markLost,
  raiseWatermarks,
  settle,
} from "../../workers/ledger/outcomes.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import { newTrace } from "../support/trace.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  newLease,
  newPurchase,
  relayer,
  request,
  router,
  sign,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";
import {
  age,
  archive,
  block,
  countOf,
  DAYS,
  type Failure,
  failed,
  oldPurchases,
} from "./support/old-purchases.ts";

useLedgerDatabase();

const bodyOf = (coverageAmount: bigint) => ({ request: { ...request, coverageAmount } });

describe("an archived purchase", () => {
  const outcomes: [string, Failure | undefined][] = [
    ["bought", undefined],
    ["reverted by its buyer's making", failed("buyer")],
    ["reverted by the protocol's making", failed("protocol")],
  ];

  test.each(outcomes)("%s: reads as before, for its client and for the operator", async (_, failure) => {
    const traceparent = newTrace();
    const id = await accepted({ traceparent });
    const [hash] = await oldPurchases([id], [failure]);
    const [purchase, history] = [
      await readPurchase(connection.sql, id),
      await entryHistory(connection.sql, id),
    ];
    expect(history).toMatchObject({
      fields: { traceparent },
      transactions: [{ state: "final", attempts: [{ hash }] }],
    });
    expect(await archive()).toBe(1);
    expect(await readPurchase(connection.sql, id)).toEqual(purchase);
    expect(await entryHistory(connection.sql, id)).toEqual(history);
    expect(await Promise.all(["purchase", "transaction", "attempt"].map(countOf))).toEqual([0, 0, 0]);
  });

  test("that was refused reads as before, with the transaction that it lost", async () => {
    const id = await accepted();
    const [signed] = await sign(await newLease(), [id]);
    await markLost(connection.sql, signed?.transactionId ?? 0, word(9));
    await refusePurchase(connection.sql, id, { code: "relayer_unavailable", message: "too late" });
    await age();
    const [purchase, history] = [
      await readPurchase(connection.sql, id),
      await entryHistory(connection.sql, id),
    ];
    expect(history).toMatchObject({
      fields: { failure_message: "too late" },
      transactions: [{ state: "lost" }],
    });
    expect(await archive()).toBe(1);
    expect(await readPurchase(connection.sql, id)).toEqual(purchase);
    expect(await entryHistory(connection.sql, id)).toEqual(history);
    expect(await countOf("transaction")).toBe(0);
  });

  test("keeps its key: the same body gets its receipt, another body a conflict", async () => {
    const key = { idempotencyKey: "old" };
    const id = await accepted(key);
    await oldPurchases([id]);
    const before = await accept(newPurchase(key));
    await archive();
    expect(before).toMatchObject({ outcome: "joined", purchase: { id, state: "confirmed" } });
    expect(await accept(newPurchase(key))).toEqual(before);
    expect(await accept(newPurchase({ ...key, ...bodyOf(5n) }))).toEqual({ outcome: "conflict" });
    expect(await countOf("purchase")).toBe(0);
  });

  test("that freed its key leaves it free", async () => {
    const key = { idempotencyKey: "freed" };
    await oldPurchases([await accepted(key)], [failed("protocol")]);
    await archive();
    const again = await accepted(key);
    expect(await accept(newPurchase(key))).toMatchObject({ outcome: "joined", purchase: { id: again } });
  });

  test("keeps its key from a purchase that a reorganisation opens again", async () => {
    const key = { idempotencyKey: "used again" };
    await oldPurchases([await accepted(key)], [failed("protocol")]);
    await connection.sql`update service.transaction set final_at = now()`;
    // As if it had been bought with another relayer's wallet, which is further.
    const [newer] = await connection.sql<{ id: string }[]>`
      insert into service.archived_purchase
      select gen_random_uuid(), chain_id, wallet, key_id, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer,
        quoted_premium, delegation_id, created_at, true, 'confirmed', tx_hash, block_number, block_hash, 1, 1, null, null,
        settled_at, final_at, '[]' from service.purchase_progress returning id`;
    await connection.sql`update service.relayer_wallet set final_below = 0`;
    expect(await dropBlocks(connection.sql, chainId, [block(7)])).toHaveLength(1);
    expect(await accept(newPurchase(key))).toMatchObject({ purchase: { id: newer?.id } });
  });
});

test("a refused purchase that was never signed is deleted instead, and leaves its key free", async () => {
  const key = { idempotencyKey: "never signed" };
  const id = await accepted(key);
  await refusePurchase(connection.sql, id, { code: "onchain_revert", message: "m" });
  expect(await archive()).toBe(0);
  await age();
  expect(await archive()).toBe(1);
  expect(await Promise.all(["purchase", "archived_purchase"].map(countOf))).toEqual([0, 0]);
  expect(await readPurchase(connection.sql, id)).toBeUndefined();
  expect(await accept(newPurchase(key))).toMatchObject({ outcome: "created" });
});

test("what was counted from purchases stays: premiums of delegations, gas of days, reverts of buyers", async () => {
  const [delegation] = await connection.sql<{ id: string }[]>`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${chainId}, ${router}, ${relayer}, ${wallet}, 1000000000, now() + interval '1 day', 1, ${word(3)}) returning id`;
  const agent = { request: { ...request, buyer: relayer }, quotedPremium: 292_000n };
  await oldPurchases([await accepted(agent), await accepted()], [undefined, failed("buyer")]);
  const counted = async () => [
    await connection.sql`select premium_spent from service.delegation where id = ${delegation?.id ?? 0}`,
    await connection.sql`select * from service.gas_day order by 1, 2, 3`,
    await connection.sql`select * from service.buyer_revert`,
  ];
  const before = await counted();
  expect(before).toMatchObject([[{ premium_spent: "292000" }], [{}, {}], [{}]]);
  expect(await archive()).toBe(2);
  expect(await counted()).toEqual(before);
});

describe("a purchase is not archived", () => {
  test("before it has been final for so long, nor while it is open", async () => {
    const ids = [await accepted(), await accepted(), await accepted()];
    const signed = await sign(await newLease(), ids.slice(0, 2));
    await settle(connection.sql, [bought(signed[0]?.signed.hash, 7)]);
    await confirmBlocks(connection.sql, chainId, [block(7)]);
    await age(DAYS - 1);
    expect(await archive()).toBe(0);
  });

  test("while the service watches its block", async () => {
    await oldPurchases([await accepted()]);
    await connection.sql`update service.relayer_wallet set final_below = 0`;
    expect(await archive()).toBe(0);
    await raiseWatermarks(connection.sql, chainId, 70n);
    expect(await archive()).toBe(0);
    await raiseWatermarks(connection.sql, chainId, 72n);
    expect(await archive()).toBe(1);
  });

  test("while the chain has unknown transactions: a nonce without a row is one of these", async () => {
    await oldPurchases([await accepted()]);
    await noteUnknown(connection.sql, chainId, relayer, 5);
    expect(await archive()).toBe(0);
  });

  test("of another chain", async () => {
    await oldPurchases([await accepted()]);
    expect(await archivePurchases(connection.sql, 84532, DAYS)).toBe(0);
  });
});
