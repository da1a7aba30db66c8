/** Archived purchases: whole, once, with the same answers as before. */
import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { entryHistory } from "../../scripts/ledger/entry-history.ts";
import { archivePurchases } from "../../workers/ledger/archive.ts";
import {
  confirmBlocks,
  dropBlocks,
  markLost,
  type Outcome,
  raiseWatermarks,
  settle,
} from "../../workers/ledger/outcomes.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import { atEnd } from "../support/cleanup.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  databaseUrl,
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

useLedgerDatabase();

const DAYS = 30;
const archive = () => archivePurchases(connection.sql, chainId, DAYS);
const block = (height: number) => ({ number: BigInt(height), hash: word(height) });
const bodyOf = (coverageAmount: bigint) => ({ request: { ...request, coverageAmount } });
const failed = (failedBy: "buyer" | "protocol") =>
  ({ kind: "reverted", code: "onchain_revert", message: "m", failedBy }) as const;
type Failure = ReturnType<typeof failed>;

/** Purchases of one wallet, final in block 7 for longer than `DAYS` and far below the head. Those with a failure reverted. */
async function oldPurchases(
  ids: readonly string[],
  failures: readonly (Failure | undefined)[] = [],
): Promise<Hex[]> {
  const signed = await sign(await newLease(), ids);
  const hashes = signed.map((one) => one.signed.hash);
  const outcomes = hashes.map((hash, n): Outcome => {
    const mined = bought(hash, 7, BigInt(n));
    const failure = failures[n];
    return failure ? { ...mined, ...failure } : mined;
  });
  await settle(connection.sql, outcomes);
  await confirmBlocks(connection.sql, chainId, [block(7)]);
  await age();
  return hashes;
}

/** Moves all purchases into the past, far below the head. */
async function age(days = DAYS): Promise<void> {
  const past = connection.sql`make_interval(days => ${days})`;
  await connection.sql`update service.transaction set final_at = final_at - ${past}, settled_at = settled_at - ${past}`;
  await connection.sql`update service.purchase set refused_at = refused_at - ${past} where refused_at is not null`;
  await raiseWatermarks(connection.sql, chainId, 1000n);
}

function signal(): [Promise<void>, () => void] {
  let resolve = (): void => {};
  return [new Promise<void>((done) => (resolve = done)), () => resolve()];
}

const countOf = async (table: string) => {
  const [row] = await connection.sql<{ count: number }[]>`
    select count(*)::int as count from service.${connection.sql(table)}`;
  return row?.count;
};

describe("an archived purchase", () => {
  const outcomes: [string, Failure | undefined][] = [
    ["bought", undefined],
    ["reverted by its buyer's making", failed("buyer")],
    ["reverted by the protocol's making", failed("protocol")],
  ];

  test.each(outcomes)("%s: reads as before, for its client and for the operator", async (_, failure) => {
    const id = await accepted();
    const [hash] = await oldPurchases([id], [failure]);
    const [purchase, history] = [
      await readPurchase(connection.sql, id),
      await entryHistory(connection.sql, id),
    ];
    expect(history).toMatchObject({ transactions: [{ state: "final", attempts: [{ hash }] }] });
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
    await dropBlocks(connection.sql, chainId, [block(7)]);
    expect(await accept(newPurchase(key))).toMatchObject({ purchase: { id: newer?.id } });
  });
});

test("what was counted from purchases stays: premiums of delegations, gas of days, strikes", async () => {
  const [delegation] = await connection.sql<{ id: string }[]>`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${chainId}, ${router}, ${relayer}, ${wallet}, 1000000000, now() + interval '1 day', 1, ${word(3)}) returning id`;
  const agent = { request: { ...request, buyer: relayer }, quotedPremium: 292_000n };
  await oldPurchases([await accepted(agent), await accepted()], [undefined, failed("buyer")]);
  const counted = async () => [
    await connection.sql`select premium_spent from service.delegation where id = ${delegation?.id ?? 0}`,
    await connection.sql`select * from service.gas_day order by 1, 2, 3`,
    await connection.sql`select * from service.strike`,
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

describe("in the very moment of archiving", () => {
  /** Archives in an open transaction, runs `meanwhile`, and then commits, or ends the session. */
  async function during(meanwhile: () => Promise<unknown>, { commits = true } = {}): Promise<void> {
    const writer = connect(databaseUrl, { name: "test", max: 1 });
    atEnd(writer.close);
    const [ending, onEnding] = signal();
    const committed = writer.sql.begin(async (tx) => {
      const [row] = await tx`
        select service.archive_purchases(${chainId}, now() - make_interval(days => ${DAYS}), 200) as archived`;
      expect(row).toEqual({ archived: 1 });
      await meanwhile();
      onEnding();
      if (!commits) await tx`select pg_terminate_backend(pg_backend_pid())`;
    });
    committed.catch(() => {}); // awaited where it commits
    await (commits ? committed : ending);
  }

  test("a replay gets the receipt without waiting, and another writer archives nothing twice", async () => {
    const key = { idempotencyKey: "moment" };
    const id = await accepted(key);
    await oldPurchases([id]);
    await during(async () => {
      expect(await accept(newPurchase(key))).toMatchObject({ outcome: "joined", purchase: { id } });
      expect(await archive()).toBe(0);
    });
    expect(await countOf("archived_purchase")).toBe(1);
  });

  test("a call without a key, like one that was settled long ago, buys once", async () => {
    const first = await accept(newPurchase());
    if (first.outcome !== "created") throw new Error(first.outcome);
    await oldPurchases([first.purchase.id]);
    let calls: ReturnType<typeof accept>[] = [];
    await during(async () => {
      calls = [accept(newPurchase()), accept(newPurchase())];
    });
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(["created", "joined"]);
  });

  test("a session that ends before it commits loses nothing", async () => {
    const id = await accepted();
    await oldPurchases([id]);
    const purchase = await readPurchase(connection.sql, id);
    await during(async () => {}, { commits: false });
    expect(await countOf("archived_purchase")).toBe(0);
    expect(await readPurchase(connection.sql, id)).toEqual(purchase);
    await expect.poll(archive).toBe(1);
  });

  test("a purchase that a reorganisation opens just then is left where it is", async () => {
    await oldPurchases([await accepted()]);
    await connection.sql.begin(async (tx) => {
      await tx`update service.transaction set final_at = null, block_number = null, block_hash = null, hash = null, outcome = null,
        gas_cost = null, settled_at = null, policy_id = null, premium_paid = null`;
      expect(await archive()).toBe(0);
    });
    expect(await archive()).toBe(0);
  });

  test("hundreds of replays beside four writers: each key keeps its purchase, and none is bought twice", async () => {
    const keys = Array.from({ length: 400 }, (_, n) => `key ${n}`);
    const ids = new Map<string, string>();
    for (const idempotencyKey of keys) ids.set(idempotencyKey, await accepted({ idempotencyKey }));
    await oldPurchases([...ids.values()]);
    let archived = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while ((await countOf("archived_purchase")) !== keys.length) {
        const count = await archive();
        archived += count;
      }
    });
    const replays = keys.map(async (idempotencyKey) => {
      expect(await accept(newPurchase({ idempotencyKey }))).toMatchObject({
        outcome: "joined",
        purchase: { id: ids.get(idempotencyKey) },
      });
    });
    await Promise.all([...writers, ...replays]);
    expect(archived).toBe(keys.length);
    expect(await countOf("purchase")).toBe(0);
  });
});
