/** Accepting purchases: once each under concurrent calls; forgotten ones are found. */
import { describe, expect, test } from "vitest";
import { noteOutcomeReceived } from "../../lib/ledger/purchases.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import { refusePurchase, takeForgotten } from "../../workers/ledger/waiting.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  drop,
  newLease,
  newPurchase,
  relayer,
  request,
  sign,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("accepting a purchase", () => {
  test.each([
    ["with an idempotency key", "k"],
    ["without an idempotency key", null],
  ])("fifty identical concurrent calls %s create one row", async (_name, idempotencyKey) => {
    const results = await Promise.all(
      Array.from({ length: 50 }, () => accept(newPurchase({ idempotencyKey }))),
    );
    const outcomes = results.map((result) => result.outcome);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "joined")).toHaveLength(49);
    expect(await connection.sql`select id from service.purchase_progress`).toHaveLength(1);
  });

  test("an idempotency key belongs to one request; upper and lower case make no difference", async () => {
    const idempotencyKey = "k";
    await accept(newPurchase({ idempotencyKey }));
    const upper = { ...request, buyer: "0x00000000000000000000000000000000000000AA" as const };
    expect(await accept(newPurchase({ idempotencyKey, request: upper }))).toMatchObject({
      outcome: "joined",
    });
    for (const other of [
      { coverageAmount: 100_000_001n },
      { productId: word(9) },
      { asset: word(9) },
      { buyer: relayer },
    ]) {
      const result = await accept(newPurchase({ idempotencyKey, request: { ...request, ...other } }));
      expect(result).toEqual({ outcome: "conflict" });
    }
  });

  test("the same idempotency key of another wallet creates another purchase", async () => {
    const first = await accept(newPurchase({ idempotencyKey: "k" }));
    const second = await accept(
      newPurchase({ idempotencyKey: "k", wallet: relayer, request: { ...request, buyer: relayer } }),
    );
    expect([first.outcome, second.outcome]).toEqual(["created", "created"]);
  });

  test.each([
    ["its idempotency key", "k"],
    ["its request", null],
  ])("a purchase that failed before it was signed frees %s", async (_name, idempotencyKey) => {
    const first = await accept(newPurchase({ idempotencyKey }));
    if (first.outcome !== "created") throw new Error(first.outcome);
    await refusePurchase(connection.sql, first.purchase.id, { code: "chain_not_found", message: "m" });
    const second = await accept(newPurchase({ idempotencyKey }));
    expect(second.outcome).toBe("created");
  });

  test("without an idempotency key, identical calls join the purchase until a caller has received its outcome", async () => {
    const lease = await newLease();
    const first = await accept(newPurchase());
    if (first.outcome !== "created") throw new Error(first.outcome);
    const { id } = first.purchase;
    const [signed] = await sign(lease, [id]);
    await settle(connection.sql, [bought(signed?.signed.hash, 7)]);
    expect(await accept(newPurchase())).toMatchObject({
      outcome: "joined",
      purchase: { id },
    });
    await noteOutcomeReceived(connection.sql, id);
    expect(await accept(newPurchase())).toMatchObject({ outcome: "created" });
    // A reorganisation brings the first one back on its way: the second is not disturbed.
    expect(await drop(7)).toEqual([signed?.signed.hash]);
  });
});

test("one of many concurrent sweepers takes a forgotten purchase", async () => {
  const forgotten = await accepted();
  await accepted(); // and not yet forgotten
  await connection.sql`update service.waiting set wake_at = now() where intent = ${forgotten}`;
  const taken = await Promise.all(
    Array.from({ length: 10 }, () =>
      takeForgotten(connection.sql, chainId, { onlyOverdue: false, limit: 10 }),
    ),
  );
  expect(taken.flat()).toEqual([{ id: forgotten, overdue: false }]);
});
