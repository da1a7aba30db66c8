/** Leases and nonces: one writer sends from a wallet at a time, and every nonce has its signed bytes. */
import { describe, expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { storeFillers } from "../../workers/ledger/fillers.ts";
import { LeaseLost, releaseLease, renewLease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { openTransactions, storeForms } from "../../workers/ledger/transactions.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import {
  accepted,
  assign,
  call,
  chainId,
  connection,
  form,
  newLease,
  relayer,
  sign,
  signer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("a lease", () => {
  test("belongs to one writer at a time, and its token rises with each new owner", async () => {
    const [mine, theirs] = await Promise.all(
      ["me", "they"].map((owner) => takeLease(connection.sql, { chainId, address: relayer, owner })),
    );
    const holder = mine ?? theirs;
    expect([mine, theirs].filter(Boolean)).toHaveLength(1);
    if (!holder) throw new Error("nobody has the lease");
    expect(await renewLease(connection.sql, holder)).toBe(true);
    await releaseLease(connection.sql, holder);
    expect(await renewLease(connection.sql, holder)).toBe(false);
    const next = await takeLease(connection.sql, { chainId, address: relayer, owner: "third" });
    expect(Number(next?.token)).toBe(Number(holder.token) + 1);
  });

  test("that a clock which was ahead has given outlives no writer: another one takes it at once", async () => {
    await newLease();
    const take = () => takeLease(connection.sql, { chainId, address: relayer, owner: "they" });
    expect(await take()).toBeUndefined();
    await connection.sql`update service.relayer_wallet set lease_until = now() + interval '1 hour'`;
    expect(await take()).toBeDefined();
  });

  test("that another writer has taken over stores nothing", async () => {
    const old = await newLease();
    const id = await accepted();
    const [first] = await sign(old, [await accepted()]);
    await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
    await takeLease(connection.sql, { chainId, address: relayer, owner: "they" });
    await expect(sign(old, [id])).rejects.toThrow(LeaseLost);
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open || !first) throw new Error("nothing is open");
    const costlier = form(open.id, await signer(0, call));
    await expect(storeForms(connection.sql, old, [costlier])).rejects.toThrow(LeaseLost);
    await connection.sql`update service.relayer_wallet set next_nonce = 9`;
    await storeFillers(connection.sql, old, [5], call);
    expect(await connection.sql`select nonce from service.transaction`).toHaveLength(1);
    await expect(startNonces(connection.sql, old, 9)).rejects.toThrow(LeaseLost);
    expect(await connection.sql`select hash from service.attempt`).toEqual([{ hash: first.signed.hash }]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "accepted" });
  });

  test("that has expired stores nothing, also when no other writer has taken it", async () => {
    const lease = await newLease();
    const id = await accepted();
    await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
    await expect(sign(lease, [id])).rejects.toThrow(LeaseLost);
    expect(await renewLease(connection.sql, lease)).toBe(true);
    expect(await sign(lease, [id])).toHaveLength(1);
  });
});

describe("signing", () => {
  test("gives nonces in the order of acceptance, without gaps, also in concurrent rounds", async () => {
    const lease = await newLease(5);
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await accepted());
    // Two rounds with some of the same purchases, as after a job that runs twice.
    const rounds = await Promise.all([sign(lease, ids.slice(0, 4)), sign(lease, ids.slice(2))]);
    const signed = rounds.flat();
    expect(signed.map((one) => one.id).toSorted()).toEqual(ids.toSorted());
    expect(signed.map((one) => one.nonce).toSorted((a, b) => a - b)).toEqual([5, 6, 7, 8, 9, 10]);
    const [row] = await connection.sql<
      { next: string }[]
    >`select next_nonce as next from service.relayer_wallet`;
    expect(row?.next).toBe("11");
  });

  test("a call whose writer died after it got its nonce is open without bytes, and can be neither signed anew nor refused", async () => {
    const lease = await newLease();
    const id = await accepted();
    expect(await assign(lease, [id])).toMatchObject([{ id, nonce: 0 }]);
    expect(await assign(lease, [id])).toEqual([]);
    expect(await refusePurchase(connection.sql, id, { code: "chain_not_found", message: "m" })).toBe(false);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "accepted" });
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    expect(open).toMatchObject({ nonce: 0, attempts: [], data: call.data });
    await storeForms(connection.sql, lease, [form(Number(open?.id), await signer(0, call))]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "broadcast" });
  });

  test("leaves out purchases that are too old, that have failed, or that are of another chain", async () => {
    const lease = await newLease();
    const [old, failed, elsewhere] = [await accepted(), await accepted(), await accepted({ chainId: 84532 })];
    await connection.sql`update service.waiting set created_at = now() - interval '61 seconds' where intent = ${old}`;
    await refusePurchase(connection.sql, failed, { code: "purchase_expired", message: "m" });
    expect(await sign(lease, [old, failed, elsewhere])).toEqual([]);
  });

  test("a signed purchase cannot be failed as unsigned", async () => {
    const lease = await newLease();
    const id = await accepted();
    await sign(lease, [id]);
    expect(await refusePurchase(connection.sql, id, { code: "chain_not_found", message: "m" })).toBe(false);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "broadcast" });
  });
});
