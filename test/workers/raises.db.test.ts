/** Higher fees in the ledger: what is reserved before they are signed, and which form counts after a reorganisation. */
import { beforeEach, expect, test } from "vitest";
import { costOf } from "../../workers/ledger/assign-nonces.ts";
import { gasSpentToday, reserveRaises, type Spending } from "../../workers/ledger/gas-spending.ts";
import { type Lease, LeaseLost, takeLease } from "../../workers/ledger/leases.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import { openTransactions, storeForms } from "../../workers/ledger/transactions.ts";
import {
  accepted,
  bought,
  call,
  chainId,
  connection,
  drop,
  form,
  newLease,
  relayer,
  sign,
  signer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

let lease: Lease;
beforeEach(async () => {
  lease = await newLease();
});

const openNow = () => openTransactions(connection.sql, chainId, relayer, 10);
/** The fixture signs each call at 30 wei per gas. */
const signedCost = costOf({ ...call, l1Fee: 0n }, 30n);

test("a raise is reserved at once: concurrent rounds see each other's, and the day counts them", async () => {
  await sign(lease, await Promise.all([accepted(), accepted()]));
  const open = await openNow();
  expect(open.map(({ reserved }) => reserved)).toEqual([signedCost, signedCost]);
  const cost = 3n * signedCost;
  // The balance pays for both transactions as they are, and for one raise.
  const balance = 4n * signedCost;
  const seen: bigint[] = [];
  const raiseOf = (id: number) => ({ id, cost, reserved: signedCost, isEmpty: false });
  const choose = (id: number) => (spending: Spending) => {
    seen.push(spending.reserved);
    return spending.reserved + cost - signedCost <= balance ? [raiseOf(id)] : [];
  };
  const chosen = await Promise.all(open.map(({ id }) => reserveRaises(connection.sql, lease, choose(id))));
  expect(chosen.flat()).toHaveLength(1);
  expect(seen).toEqual([2n * signedCost, 4n * signedCost]);
  expect(await gasSpentToday(connection.sql, chainId)).toBe(4n * signedCost);
});

test("nothing is reserved for a transaction that was mined meanwhile", async () => {
  const [first] = await sign(lease, await Promise.all([accepted(), accepted()]));
  const [mined, other] = await openNow();
  if (!mined || !other) throw new Error("nothing is open");
  await settle(connection.sql, [bought(first?.signed.hash, 7)]);
  const more = { reserved: signedCost, isEmpty: false };
  const raises = [mined, other].map(({ id }) => ({ id, cost: 2n * signedCost, ...more }));
  const chosen = await reserveRaises(connection.sql, lease, () => raises);
  expect(chosen).toMatchObject([{ id: other.id, cost: 2n * signedCost }]);
});

test("a writer that has lost the wallet's lease reserves nothing", async () => {
  await connection.sql`update service.relayer_wallet set lease_until = now() - interval '1 second'`;
  await takeLease(connection.sql, { chainId, address: relayer, owner: "they" });
  await expect(reserveRaises(connection.sql, lease, () => [])).rejects.toThrow(LeaseLost);
});

test("the newest form counts, and after a reorganisation the one that was mined, until another is signed", async () => {
  const [signed] = await sign(lease, [await accepted()]);
  const [open] = await openNow();
  if (!open || !signed) throw new Error("nothing is open");
  const hashNow = async () => (await openNow()).map(({ wanted }) => wanted);
  expect(await hashNow()).toEqual([signed.signed.hash]);
  const cancel = form(open.id, await signer(0, call), true);
  await storeForms(connection.sql, lease, [cancel]);
  expect(await hashNow()).toEqual([cancel.signed.hash]);
  await settle(connection.sql, [bought(signed.signed.hash, 7)]);
  await drop(7);
  expect(await hashNow()).toEqual([signed.signed.hash]);
  const raised = form(open.id, await signer(0, call));
  await storeForms(connection.sql, lease, [raised]);
  expect(await hashNow()).toEqual([raised.signed.hash]);
});
