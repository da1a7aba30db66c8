/** The ledger's promises that Postgres itself keeps: acceptance, evidence, leases, nonces; and the waiter on top. */
import { randomUUID } from "node:crypto";
import type { Address, Hex } from "viem";
import { numberToHex } from "viem";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { type Acceptance, acceptPurchases, type NewPurchase } from "../../lib/ledger/accept.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { noteTold, readPurchase } from "../../lib/ledger/purchases.ts";
import { createPurchaseWaiter } from "../../lib/ledger/wait.ts";
import { waitFor } from "../../lib/local/wait.ts";
import { failUnsigned, takeForgotten } from "../../workers/ledger/accepted.ts";
import { hasMinedFillers, storeFiller } from "../../workers/ledger/fillers.ts";
import {
  type Lease,
  LeaseLost,
  raiseNextNonce,
  releaseLease,
  renewLease,
  takeLease,
} from "../../workers/ledger/leases.ts";
import { openTransactions } from "../../workers/ledger/open.ts";
import { confirmBlock, dropBlock, markLost, settle } from "../../workers/ledger/settled.ts";
import {
  type Call,
  markSent,
  type Signed,
  signPurchases,
  stoppedHashes,
  storeForm,
} from "../../workers/ledger/signed.ts";
import type { Candidate } from "../../workers/ledger/spending.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { plenty } from "../support/ledger.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";

const chainId = 8453;
const wallet: Address = "0x00000000000000000000000000000000000000aa";
const relayer: Address = "0x00000000000000000000000000000000000000bb";
const router: Address = "0x00000000000000000000000000000000000000cc";
const word = (n: number): Hex => numberToHex(n, { size: 32 });
const request: PurchaseRequest = {
  productId: word(1),
  coverageAmount: 100_000_000n,
  asset: word(2),
  buyer: wallet,
};

let databaseUrl: string;
let connection: Connection;
let keyId: number;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  await migrateService(databaseUrl);
  connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const [key] = await connection.sql<{ id: string }[]>`
    insert into service.api_key (key_hash, wallet, tier) values ('x', ${wallet}, 'paid') returning id`;
  keyId = Number(key?.id);
});
afterEach(async () => {
  await connection.sql`truncate service.purchase, service.transaction, service.attempt, service.relayer_wallet, service.gas_day`;
});

const wish = (more: Partial<NewPurchase> = {}): NewPurchase => ({
  chainId,
  router,
  wallet,
  keyId,
  idempotencyKey: null,
  request,
  quotedPremium: 0n,
  funds: plenty,
  ...more,
});

async function accept(purchase: NewPurchase): Promise<Acceptance> {
  const acceptance = (await acceptPurchases(connection, [purchase])).get(purchase);
  if (!acceptance) throw new Error("no answer");
  return acceptance;
}

async function accepted(more: Partial<NewPurchase> = {}): Promise<string> {
  const result = await accept(wish({ idempotencyKey: randomUUID(), ...more }));
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.purchase.id;
}

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

let count = 0;
const signer = async (nonce: number, call: Call): Promise<Signed> => {
  count += 1;
  return { hash: word(1_000_000 + count * 1000 + nonce), bytes: call.data, maxFee: 30n, priorityFee: 1n };
};
const call: Call = { to: router, data: "0x1234", gasLimit: 21_000n };

async function newLease(next = 0): Promise<Lease> {
  const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
  if (!lease) throw new Error("no lease");
  await raiseNextNonce(connection.sql, lease, next);
  return lease;
}
async function sign(lease: Lease, ids: readonly string[], sign = signer) {
  const calls = new Map(ids.map((id) => [id, call]));
  const choose = (candidates: readonly Candidate[]) => ({ sign: candidates.map(({ id }) => id) });
  return (await signPurchases(connection.sql, { lease, calls, choose, sign })).signed;
}
const bought = (hash: Hex | undefined, block: number, policyId = 1n) => ({
  kind: "bought" as const,
  hash: hash ?? "0x",
  blockNumber: BigInt(block),
  blockHash: word(block),
  policyId,
  premiumPaid: 292_000n,
  gasCost: 100n,
});

describe("a lease", () => {
  test("belongs to one writer at a time, and its token rises with each change of hands", async () => {
    const [mine, theirs] = await Promise.all(
      ["me", "they"].map((owner) => takeLease(connection.sql, { chainId, address: relayer, owner })),
    );
    const holder = mine ?? theirs;
    expect([mine, theirs].filter(Boolean)).toHaveLength(1);
    if (!holder) throw new Error("nobody holds it");
    expect(await renewLease(connection.sql, holder)).toBe(true);
    await releaseLease(connection.sql, holder);
    expect(await renewLease(connection.sql, holder)).toBe(false);
    const next = await takeLease(connection.sql, { chainId, address: relayer, owner: "third" });
    expect(Number(next?.token)).toBe(Number(holder.token) + 1);
  });

  test("that was taken over lets nothing be stored", async () => {
    const old = await newLease();
    const id = await accepted();
    const [first] = await sign(old, [await accepted()]);
    await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
    await takeLease(connection.sql, { chainId, address: relayer, owner: "they" });
    await expect(sign(old, [id])).rejects.toThrow(LeaseLost);
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open || !first) throw new Error("nothing is open");
    const form = { signed: await signer(0, call), cancels: false };
    await expect(storeForm(connection.sql, old, open.id, form)).rejects.toThrow(LeaseLost);
    await expect(
      storeFiller(connection.sql, old, 0, { call, signed: await signer(0, call) }),
    ).rejects.toThrow(LeaseLost);
    await expect(raiseNextNonce(connection.sql, old, 9)).rejects.toThrow(LeaseLost);
    expect(await connection.sql`select hash from service.attempt`).toEqual([{ hash: first.signed.hash }]);
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "accepted" });
  });

  test("that lapsed lets nothing be stored, though nobody took it", async () => {
    const lease = await newLease();
    const id = await accepted();
    await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
    await expect(sign(lease, [id])).rejects.toThrow(LeaseLost);
    expect(await renewLease(connection.sql, lease)).toBe(true);
    expect(await sign(lease, [id])).toHaveLength(1);
  });
});

describe("signing", () => {
  test("gives nonces in the order of acceptance, without a gap, whatever is signed at the same moment", async () => {
    const lease = await newLease(5);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await accepted());
    // The same purchases in two overlapping rounds, as a job that runs twice would bring them.
    const rounds = await Promise.all([sign(lease, ids.slice(0, 4)), sign(lease, ids.slice(2))]);
    const signed = rounds.flat();
    expect(signed.map((one) => one.id).toSorted()).toEqual(ids.toSorted());
    expect(signed.map((one) => one.nonce).toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
    const [row] = await connection.sql<
      { next: string }[]
    >`select next_nonce as next from service.relayer_wallet`;
    expect(row?.next).toBe("11");
  });

  test("that fails on the way takes no nonce", async () => {
    const lease = await newLease();
    const id = await accepted();
    const failing = () => Promise.reject(new Error("no key"));
    await expect(sign(lease, [id], failing)).rejects.toThrow("no key");
    const [row] = await connection.sql<
      { next: string }[]
    >`select next_nonce as next from service.relayer_wallet`;
    expect(row?.next).toBe("0");
    expect(await sign(lease, [id])).toMatchObject([{ id, nonce: 0 }]);
  });

  test("leaves out what is too old, what has failed, and what another chain is to do", async () => {
    const lease = await newLease();
    const [old, failed, elsewhere] = [await accepted(), await accepted(), await accepted({ chainId: 84532 })];
    await connection.sql`update service.purchase set created_at = now() - interval '61 seconds' where id = ${old}`;
    await failUnsigned(connection.sql, failed, { code: "purchase_expired", message: "m" });
    expect(await sign(lease, [old, failed, elsewhere])).toEqual([]);
  });

  test("what was signed cannot be failed for want of a signature", async () => {
    const lease = await newLease();
    const id = await accepted();
    await sign(lease, [id]);
    expect(await failUnsigned(connection.sql, id, { code: "chain_not_found", message: "m" })).toBe(false);
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "signed" });
  });
});

describe("the kill switch", () => {
  const stop = (scope: string, subject: string) =>
    connection.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
  afterEach(async () => {
    await connection.sql`truncate service.stop`;
  });

  test.each([
    { scope: "global", subject: () => "", call: true, cancel: true },
    { scope: "wallet", subject: () => relayer, call: true, cancel: true },
    { scope: "wallet", subject: () => wallet, call: true, cancel: false },
    { scope: "key", subject: () => String(keyId), call: true, cancel: false },
    { scope: "key", subject: () => "999999", call: false, cancel: false },
  ])("of scope $scope holds back signed bytes: the call $call, what cancels it $cancel", async (stopped) => {
    const lease = await newLease();
    const [signed] = await sign(lease, [await accepted()]);
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open || !signed) throw new Error("nothing is open");
    const form = { signed: await signer(0, call), cancels: true };
    await storeForm(connection.sql, lease, open.id, form);
    const hashes = [signed.signed.hash, form.signed.hash];
    expect(await stoppedHashes(connection.sql, hashes)).toEqual(new Set());
    await stop(stopped.scope, stopped.subject());
    const held = await stoppedHashes(connection.sql, hashes);
    expect(hashes.map((one) => held.has(one))).toEqual([stopped.call, stopped.cancel]);
  });
});

describe("the gas of a day", () => {
  const days = () => connection.sql<{ wallet: string; wei: string }[]>`
    select wallet, wei from service.gas_day where day = (now() at time zone 'utc')::date order by wallet`;
  /** The same from the records themselves. */
  const sums = () => connection.sql<{ wallet: string; wei: string }[]>`
    select w as wallet, sum(case t.state when 'lost' then 0 else coalesce(t.gas_cost, t.gas_reserved) end) as wei
    from service.transaction t left join service.purchase p on p.id = t.purchase_id,
      unnest(array['', p.wallet]) w where w is not null group by w order by w`;

  test("follows every change of its transactions, whatever comes at once", async () => {
    const lease = await newLease();
    const other: Address = "0x00000000000000000000000000000000000000dd";
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        accepted(n % 3 === 0 ? { wallet: other, request: { ...request, buyer: other } } : {}),
      ),
    );
    const signed = (await Promise.all([sign(lease, ids.slice(0, 8)), sign(lease, ids.slice(4))])).flat();
    expect(await days()).toEqual(await sums());
    const [first, second] = await openTransactions(connection.sql, chainId, relayer, 2);
    if (!first || !second) throw new Error("nothing is open");
    const dearer = { ...(await signer(0, call)), maxFee: 90n };
    await storeForm(connection.sql, lease, first.id, { signed: dearer, cancels: false });
    expect(await days()).toEqual(await sums());
    await Promise.all(
      signed.slice(2).map((one, n) => settle(connection.sql, [bought(one.signed.hash, 7 + n)])),
    );
    await markLost(connection.sql, second.id, word(99));
    await storeFiller(connection.sql, lease, 0, { call, signed: await signer(0, call) });
    expect(await days()).toEqual(await sums());
    await confirmBlock(connection.sql, chainId, { number: 7n, hash: word(7) });
    await dropBlock(connection.sql, chainId, { number: 8n, hash: word(8) });
    expect(await days()).toEqual(await sums());
    expect((await days()).map(({ wallet }) => wallet)).toEqual(["", wallet, other].toSorted());
  });
});

describe("settling", () => {
  let lease: Lease;
  let id: string;
  let hash: Hex;

  beforeEach(async () => {
    lease = await newLease();
    id = await accepted();
    const [signed] = await sign(lease, [id]);
    if (!signed) throw new Error("not signed");
    hash = signed.signed.hash;
  });

  test("twice changes nothing; another block rewrites the receipt; a final one stays", async () => {
    expect(await settle(connection.sql, [bought(hash, 7)])).toMatchObject([{ id, kind: "bought", hash }]);
    expect(await settle(connection.sql, [bought(hash, 7)])).toEqual([]);
    expect(await settle(connection.sql, [bought(hash, 8, 2n)])).toMatchObject([{ id }]);
    expect(await readPurchase(connection.db, id)).toMatchObject({
      state: "mined",
      receipt: { policyId: 2n, blockNumber: 8n },
    });
    await confirmBlock(connection.sql, chainId, { number: 8n, hash: word(8) });
    expect(await settle(connection.sql, [bought(hash, 9, 3n)])).toEqual([]);
    expect(await readPurchase(connection.db, id)).toMatchObject({
      state: "confirmed",
      receipt: { policyId: 2n },
    });
  });

  test("of the call and the empty transfer in its place, whichever is mined decides", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open) throw new Error("nothing is open");
    const form = { signed: await signer(0, call), cancels: true };
    expect(await storeForm(connection.sql, lease, open.id, form)).toBe(true);
    const replaced = {
      hash: form.signed.hash,
      blockNumber: 7n,
      blockHash: word(7),
      gasCost: 1n,
      kind: "replaced" as const,
      code: "purchase_expired" as const,
      message: "m",
    };
    expect(await settle(connection.sql, [replaced])).toMatchObject([{ id, kind: "replaced" }]);
    // Until it is final a reorganisation may still let the call be mined instead.
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "broadcast" });
    await settle(connection.sql, [bought(hash, 8)]);
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "mined" });
    await settle(connection.sql, [{ ...replaced, blockNumber: 9n, blockHash: word(9) }]);
    await confirmBlock(connection.sql, chainId, { number: 9n, hash: word(9) });
    expect(await readPurchase(connection.db, id)).toMatchObject({
      state: "replaced",
      code: "purchase_expired",
      txHash: form.signed.hash,
    });
  });

  test("a replaced purchase frees its key once that is final", async () => {
    const key = { idempotencyKey: "to-be-freed" };
    const first = await accepted(key);
    const [signed] = await sign(lease, [first]);
    if (!signed) throw new Error("not signed");
    await settle(connection.sql, [
      {
        hash: signed.signed.hash,
        blockNumber: 7n,
        blockHash: word(7),
        gasCost: 1n,
        kind: "replaced",
        code: "purchase_expired",
        message: "m",
      },
    ]);
    expect(await accept(wish(key))).toMatchObject({ outcome: "joined", purchase: { id: first } });
    await confirmBlock(connection.sql, chainId, { number: 7n, hash: word(7) });
    expect(await accept(wish(key))).toMatchObject({ outcome: "created" });
  });

  test("by two rounds at once, in whatever order, and a block that falls out between them: nobody waits for ever", async () => {
    const ids = [id, ...(await Promise.all(Array.from({ length: 20 }, () => accepted())))];
    const signed = await sign(lease, ids.slice(1));
    const outcomes = [hash, ...signed.map((one) => one.signed.hash)].map((one) => bought(one, 7));
    await Promise.all([
      settle(connection.sql, outcomes),
      settle(connection.sql, outcomes.toReversed()),
      dropBlock(connection.sql, chainId, { number: 7n, hash: word(7) }),
      settle(connection.sql, outcomes.toReversed()),
    ]);
    await settle(connection.sql, outcomes);
    const states = await Promise.all(ids.map(async (one) => (await readPurchase(connection.db, one))?.state));
    expect(new Set(states)).toEqual(new Set(["mined"]));
  });

  test("a late note that the bytes were sent does not undo it", async () => {
    await settle(connection.sql, [bought(hash, 7)]);
    await markSent(connection.sql, [{ hash, accepted: true }]);
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "mined" });
  });

  test("a purchase whose nonce was lost is signed again under another one", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    await markLost(connection.sql, Number(open?.id), hash);
    // The holder turned out to be one of our own forms: nothing is lost.
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "signed" });
    await markLost(connection.sql, Number(open?.id), word(99));
    expect(await readPurchase(connection.db, id)).toMatchObject({ state: "accepted" });
    expect(await sign(lease, [id])).toMatchObject([{ id, nonce: 1 }]);
  });

  test("one purchase can have no second transaction that may be mined", async () => {
    await expect(connection.sql`
      insert into service.transaction (chain_id, wallet, nonce, kind, purchase_id, "to", data, gas_limit)
      values (${chainId}, ${relayer}, 1, 'purchase', ${id}, ${router}, '0x', 21000)`).rejects.toThrow(
      "transaction_purchase",
    );
  });
});

test("a state without its evidence cannot be stored", async () => {
  const id = await accepted();
  const hash = word(5);
  const illegal = [
    "state = 'signed'",
    "state = 'broadcast'",
    "state = 'mined'",
    `state = 'mined', tx_hash = '${hash}', block_number = 1, block_hash = '${hash}'`,
    `state = 'confirmed', tx_hash = '${hash}', block_number = 1, block_hash = '${hash}', policy_id = 1, premium_paid = 1`,
    "state = 'failed', joinable = false",
    "state = 'failed', failure_code = 'c', failure_message = 'm', joinable = false",
    // Signed, and no block that shows the failure: not proven.
    `state = 'failed', failure_code = 'c', failure_message = 'm', tx_hash = '${hash}', final_at = now()`,
    `state = 'accepted', tx_hash = '${hash}'`,
    "state = 'done'",
    "buyer = upper(buyer)",
    "coverage_amount = 0",
  ];
  for (const change of illegal) {
    await expect(
      connection.sql.unsafe(`update service.purchase set ${change} where id = '${id}'`),
      change,
    ).rejects.toThrow(/violates check constraint/);
  }
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

describe("waiting for a purchase", () => {
  test("many callers are answered soon after it settles, also one who came too late for the notification", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.db);
    atEnd(() => waiter.close());
    const id = await accepted();
    const early = Promise.all([waiter.wait(id, 20_000), waiter.wait(id, 20_000)]);
    await failUnsigned(connection.sql, id, { code: "oracle_stale", message: "m" });
    expect((await early).map((purchase) => purchase.state)).toEqual(["failed", "failed"]);
    expect((await waiter.wait(id, 20_000)).state).toBe("failed");
    await waiter.close();
  });

  test("the time-out answers with the state as it is", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.db);
    const id = await accepted();
    expect(await waiter.wait(id, 50)).toMatchObject({ id, state: "accepted" });
    await expect(waiter.wait(randomUUID(), 50)).rejects.toThrow("there is no purchase");
    await waiter.close();
  });

  test("a change without a notification is found by the poll", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.db);
    const id = await accepted();
    const waiting = waiter.wait(id, 20_000);
    await connection.sql`
      update service.purchase set state = 'failed', failure_code = 'oracle_stale', failure_message = 'm',
        joinable = false, final_at = now() where id = ${id}`;
    expect((await waiting).state).toBe("failed");
    await waiter.close();
  });

  test("it starts while Postgres is away, and listens again whenever it comes back", async () => {
    const proxy = await startTcpProxy(databaseUrl);
    await proxy.cut();
    const reads = connect(proxy.url, { name: "test-reads" });
    const waiter = createPurchaseWaiter(proxy.url, reads.db);
    const listening = (expected: number) =>
      waitFor({
        what: `${expected} listening session`,
        probe: async () => {
          const rows = await connection.sql`
            select 1 from pg_stat_activity
            where datname = current_database() and application_name = 'purchase-waiter' and query ilike 'listen%'`;
          return rows.length === expected ? true : undefined;
        },
        timeoutMs: 30_000,
      });
    await proxy.mend();
    await listening(1);
    for (let n = 0; n < 2; n += 1) {
      await proxy.cut();
      await listening(0);
      await proxy.mend();
      await listening(1);
    }
    const id = await accepted();
    const waiting = waiter.wait(id, 20_000);
    await failUnsigned(connection.sql, id, { code: "oracle_stale", message: "m" });
    expect((await waiting).state).toBe("failed");
    await waiter.close();
    await reads.close();
  });
});

describe("outcomes that meet", () => {
  const bought = (hash: Hex, block: number) => ({
    kind: "bought" as const,
    hash,
    blockNumber: BigInt(block),
    blockHash: word(block),
    policyId: BigInt(block),
    premiumPaid: 292_000n,
    gasCost: 100n,
  });
  const block = (n: number) => ({ number: BigInt(n), hash: word(n) });
  const states = () => connection.sql`
    select t.state as transaction, p.state as purchase, p.final_at is not null as final, p.block_number::int as block
    from service.transaction t join service.purchase p on p.id = t.purchase_id`;

  /** Settles a purchase in block 7 and then, not committed yet, in block 8, while `meanwhile` is asked about block 7. */
  async function movedWhile(meanwhile: () => Promise<unknown>): Promise<void> {
    const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
    if (!lease) throw new Error("no lease");
    await raiseNextNonce(connection.sql, lease, 0);
    const id = await accepted();
    const form: Signed = { hash: word(99), bytes: "0x1234", maxFee: 30n, priorityFee: 1n };
    await signPurchases(connection.sql, {
      lease,
      calls: new Map([[id, { to: router, data: "0x1234", gasLimit: 21_000n }]]),
      choose: (candidates: readonly Candidate[]) => ({ sign: candidates.map((candidate) => candidate.id) }),
      sign: async () => form,
    });
    await settle(connection.sql, [bought(form.hash, 7)]);
    // A reader that sees block 7 and has to wait for the transaction's row, however short the moment is in life.
    const other = connect(databaseUrl, { name: "other", max: 1 });
    await other.sql`begin`;
    await settle(other.sql, [bought(form.hash, 8)]);
    const asked = meanwhile();
    await waitFor({
      what: "the statement to wait for the row",
      probe: async () => {
        const rows = await connection.sql`
          select 1 from pg_stat_activity
          where datname = current_database() and application_name = 'test' and wait_event_type = 'Lock'`;
        return rows.length > 0 ? true : undefined;
      },
      timeoutMs: 5000,
    });
    await other.sql`commit`;
    await asked;
    await other.close();
  }

  test("a purchase that moved to another block meanwhile is made final by that block alone", async () => {
    await movedWhile(() => confirmBlock(connection.sql, chainId, block(7)));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    await confirmBlock(connection.sql, chainId, block(8));
    expect(await states()).toEqual([{ transaction: "final", purchase: "confirmed", final: true, block: 8 }]);
  });

  test("a purchase that moved to another block meanwhile does not fall out with the old one", async () => {
    await movedWhile(async () => expect(await dropBlock(connection.sql, chainId, block(7))).toEqual([]));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    expect(await dropBlock(connection.sql, chainId, block(8))).toHaveLength(1);
    expect(await states()).toEqual([
      { transaction: "open", purchase: "broadcast", final: false, block: null },
    ]);
  });
});

test("a filler that was mined hours after it was signed is still looked at", async () => {
  const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
  if (!lease) throw new Error("no lease");
  await raiseNextNonce(connection.sql, lease, 1);
  const call: Call = { to: relayer, data: "0x", gasLimit: 21_000n };
  const signed: Signed = { hash: word(1), bytes: "0x1234", maxFee: 30n, priorityFee: 1n };
  await storeFiller(connection.sql, lease, 0, { call, signed });
  const minedAfter = async (hours: number) => {
    await connection.sql`
      update service.transaction set state = 'mined', created_at = now() - make_interval(hours => ${hours})`;
    return hasMinedFillers(connection.sql, chainId, relayer);
  };
  expect(await minedAfter(12)).toBe(true);
  expect(await minedAfter(48)).toBe(false);
});
