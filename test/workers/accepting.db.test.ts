/** Accepting purchases: once each, whatever comes at once; those that were forgotten are found. */
import { describe, expect, test } from "vitest";
import { noteTold } from "../../lib/ledger/purchases.ts";
import { failUnsigned, takeForgotten } from "../../workers/ledger/accepted.ts";
import { dropBlock, settle } from "../../workers/ledger/settled.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  newLease,
  relayer,
  request,
  sign,
  wish,
  withBooks,
  word,
} from "./support/books.ts";

withBooks();

describe("accepting a purchase", () => {
  test.each([
    ["under one key", "k"],
    ["without a key", null],
  ])("fifty identical calls at once %s are one row", async (_name, idempotencyKey) => {
    const results = await Promise.all(Array.from({ length: 50 }, () => accept(wish({ idempotencyKey }))));
    const outcomes = results.map((result) => result.outcome);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "joined")).toHaveLength(49);
    expect(await connection.sql`select id from service.purchase`).toHaveLength(1);
  });

  test("a key stands for one request, in whatever letters", async () => {
    const idempotencyKey = "k";
    await accept(wish({ idempotencyKey }));
    const upper = { ...request, buyer: "0x00000000000000000000000000000000000000AA" as const };
    expect(await accept(wish({ idempotencyKey, request: upper }))).toMatchObject({
      outcome: "joined",
    });
    for (const other of [
      { coverageAmount: 100_000_001n },
      { productId: word(9) },
      { asset: word(9) },
      { buyer: relayer },
    ]) {
      const result = await accept(wish({ idempotencyKey, request: { ...request, ...other } }));
      expect(result).toEqual({ outcome: "conflict" });
    }
  });

  test("the same key of another wallet is another purchase", async () => {
    const first = await accept(wish({ idempotencyKey: "k" }));
    const second = await accept(
      wish({ idempotencyKey: "k", wallet: relayer, request: { ...request, buyer: relayer } }),
    );
    expect([first.outcome, second.outcome]).toEqual(["created", "created"]);
  });

  test.each([
    ["its key", "k"],
    ["its content", null],
  ])("one that failed with nothing signed frees %s", async (_name, idempotencyKey) => {
    const first = await accept(wish({ idempotencyKey }));
    if (first.outcome !== "created") throw new Error(first.outcome);
    await failUnsigned(connection.sql, first.purchase.id, { code: "chain_not_found", message: "m" });
    const second = await accept(wish({ idempotencyKey }));
    expect(second.outcome).toBe("created");
  });

  test("without a key, a purchase is joined until its outcome was told", async () => {
    const lease = await newLease();
    const first = await accept(wish());
    if (first.outcome !== "created") throw new Error(first.outcome);
    const { id } = first.purchase;
    const [signed] = await sign(lease, [id]);
    await settle(connection.sql, [bought(signed?.signed.hash, 7)]);
    expect(await accept(wish())).toMatchObject({
      outcome: "joined",
      purchase: { id },
    });
    await noteTold(connection.db, id);
    expect(await accept(wish())).toMatchObject({ outcome: "created" });
    // A reorganisation brings the first one back on its way: the second is not disturbed.
    expect(await dropBlock(connection.sql, chainId, { number: 7n, hash: word(7) })).toEqual([id]);
  });
});

test("a forgotten purchase is given out once in its time, to one of many who ask", async () => {
  const [forgotten, fresh] = [await accepted(), await accepted()];
  await connection.sql`update service.purchase set wake_at = now() where id = ${forgotten}`;
  const taken = await Promise.all(
    Array.from({ length: 10 }, () => takeForgotten(connection.sql, chainId, { minAgeSeconds: 0, limit: 10 })),
  );
  expect(taken.flat()).toEqual([forgotten]);
  expect(taken.flat()).not.toContain(fresh);
});
