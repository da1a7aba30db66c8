/** Transactions that the chain has and the ledger lacks: none is signed beside them, and each is recorded once. */
import { expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import { FENCE, placeFence } from "../../workers/ledger/fillers.ts";
import { type Lease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { waitingServiceTransactions as readServiceTransactions } from "../../workers/ledger/service-transactions.ts";
import { withheldHashes } from "../../workers/ledger/transactions.ts";
import {
  acceptForeign,
  endUnknown,
  fillUnknown,
  noteTaken,
  noteUnknown,
  recordUnknown,
  waitingCalls,
  waitingPurchases,
} from "../../workers/ledger/unknown-transactions.ts";
import {
  accepted,
  assign,
  call,
  chainId,
  connection,
  mineFillers,
  newLease,
  relayer,
  request,
  router,
  sign,
  signer,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

const note = (pending: number) => noteUnknown(connection.sql, chainId, relayer, pending);
const nonces = async () => (await unknownNonces(connection.sql, chainId)).map(({ nonce }) => nonce);
const record = async (lease: Lease, nonce: number, intent: string | null) =>
  recordUnknown(connection.sql, lease, {
    ...{ nonce, intent, call, cost: 1n },
    signed: await signer(nonce, call),
  });

test("a chain that is behind the ledger, or level with it, has no unknown transactions", async () => {
  await newLease(3);
  expect(await note(2)).toBeUndefined();
  expect(await note(3)).toBeUndefined();
  expect(await nonces()).toEqual([]);
});

test("they are noted once, and again only when there are more", async () => {
  await newLease(3);
  expect(await note(5)).toEqual({ from: 3, below: 5 });
  expect(await note(5)).toBeUndefined();
  expect(await note(4)).toBeUndefined();
  expect(await note(6)).toEqual({ from: 3, below: 6 });
  expect(await nonces()).toEqual([3, 4, 5]);
});

test("no wallet of the chain gets a nonce beside them, and another chain's does", async () => {
  await newLease(3);
  const other = await takeLease(connection.sql, { chainId, address: router, owner: "me" });
  const elsewhere = await takeLease(connection.sql, { chainId: 84532, address: router, owner: "me" });
  if (!other || !elsewhere) throw new Error("no lease");
  await startNonces(connection.sql, other, 0);
  await startNonces(connection.sql, elsewhere, 0);
  const id = await accepted();
  await note(4);
  await expect(assign(other, [id])).rejects.toThrow(NoncesWithheld);
  expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "accepted" });
  expect(await assign(elsewhere, [await accepted({ chainId: 84532 })])).toHaveLength(1);
});

test("bytes that the ledger lacks are not sent", async () => {
  const [signed] = await sign(await newLease(), [await accepted()]);
  if (!signed) throw new Error("nothing was signed");
  const { hash } = signed.signed;
  expect(await withheldHashes(connection.sql, [hash, word(7)])).toEqual(new Set([word(7)]));
});

test("one is recorded for a waiting purchase, which then no longer waits", async () => {
  const lease = await newLease(3);
  const [first, second] = [await accepted(), await accepted()];
  await note(5);
  const waiting = async (wanted = request) =>
    (await waitingPurchases(connection.sql, chainId, wanted)).map(({ id }) => id);
  expect(await waiting({ ...request, coverageAmount: 1n })).toEqual([]);
  expect(await waiting()).toEqual([first, second]);
  expect(await record(lease, 4, first)).toBe(true);
  expect(await waiting()).toEqual([second]);
  expect(await readPurchase(connection.sql, first)).toMatchObject({ state: "broadcast" });
  expect(await nonces()).toEqual([3]);
  expect(await endUnknown(connection.sql, lease)).toBe(false);
  expect(await record(lease, 3, first)).toBe(false);
  expect(await record(lease, 3, second)).toBe(true);
  expect(await endUnknown(connection.sql, lease)).toBe(true);
  expect(await assign(lease, [await accepted()])).toMatchObject([{ nonce: 5 }]);
});

test("one is recorded for a waiting service transaction of its wallet to the same receiver with the same amount", async () => {
  const lease = await newLease();
  const grant = { to: wallet, value: 5n };
  await connection.sql`
    insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
    values (${chainId}, ${relayer}, 'sandbox_ether', ${wallet}, '0x', 5)`;
  await note(1);
  expect(await readServiceTransactions(connection.sql, chainId, relayer, 10)).toEqual([]);
  expect(await waitingCalls(connection.sql, { ...lease, address: router }, grant)).toEqual([]);
  expect(await waitingCalls(connection.sql, lease, { ...grant, value: 6n })).toEqual([]);
  const [waits] = await waitingCalls(connection.sql, lease, grant);
  if (!waits) throw new Error("nothing waits");
  const { id } = waits;
  expect(await record(lease, 0, id)).toBe(true);
  expect(await connection.sql`select kind, intent from service.transaction`).toEqual([
    { kind: "service_transaction", intent: id },
  ]);
});

test("the operator's word steps over one, without a writer; a known nonce is never stepped over", async () => {
  const lease = await newLease(3);
  await note(4);
  const foreign = { chainId, wallet: relayer, hash: word(9) };
  expect(await acceptForeign(connection.sql, { ...foreign, nonce: 2 })).toBe(false);
  expect(await acceptForeign(connection.sql, { ...foreign, nonce: 4 })).toBe(false);
  expect(await acceptForeign(connection.sql, { ...foreign, nonce: 3 })).toBe(true);
  expect(await acceptForeign(connection.sql, { ...foreign, nonce: 3 })).toBe(false);
  expect(await endUnknown(connection.sql, lease)).toBe(true);
  expect(await assign(lease, [await accepted()])).toMatchObject([{ nonce: 4 }]);
});

test("those that the chain lacks again are given to empty transfers, and what one of these lost its nonce to is unknown", async () => {
  const lease = await newLease(3);
  await note(5);
  await fillUnknown(connection.sql, lease, 4, call);
  expect(await endUnknown(connection.sql, lease)).toBe(false);
  await fillUnknown(connection.sql, lease, 3, call);
  const fillers = () => connection.sql<{ id: string; nonce: string }[]>`
    select id, nonce from service.transaction where kind = 'filler' order by nonce`;
  const [first, ...others] = await fillers();
  expect([first, ...others].map((one) => one?.nonce)).toEqual(["3", "4"]);
  // The empty transfers may still lose their nonces.
  expect(await endUnknown(connection.sql, lease)).toBe(false);
  await noteTaken(connection.sql, lease, Number(first?.id));
  expect(await nonces()).toEqual([3]);
  expect(await fillers()).toEqual(others);
  await mineFillers();
  const id = await accepted();
  await expect(assign(lease, [id])).rejects.toThrow(NoncesWithheld);
  expect(await record(lease, 3, id)).toBe(true);
  expect(await endUnknown(connection.sql, lease)).toBe(true);
  // More may have been lost: the wallet is fenced first.
  await expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
  expect(await placeFence(connection.sql, lease, call)).toMatchObject([
    { nonce: 5 },
    ...Array(FENCE - 1).fill({}),
  ]);
});
