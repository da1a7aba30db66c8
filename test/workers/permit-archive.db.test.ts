/** Archiving a purchase with its permit: both or neither, and the operator sees both before and after. */
import { expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { entryHistory } from "../../scripts/ledger/entry-history.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import {
  bought,
  confirm,
  connection,
  newLease,
  relayer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";
import { age, archive, countOf } from "./support/old-purchases.ts";
import { acceptedWithPermit, minePermit, signWith, type WithPermit } from "./support/permits.ts";

useLedgerDatabase();

const rows = () => Promise.all(["purchase", "permit", "transaction", "attempt"].map(countOf));

/** A purchase and its permit, mined in two blocks, final for long and below all watched blocks. */
async function oldPurchase(): Promise<WithPermit> {
  const ids = await acceptedWithPermit();
  const [permit, purchase] = await signWith(await newLease(), ids, "both");
  await minePermit(permit?.hash, 7);
  await settle(connection.sql, [bought(purchase?.hash, 8)]);
  await confirm(7, 8);
  await age();
  return ids;
}

test("the purchase and its permit go together, and read as before", async () => {
  const { purchase: id } = await oldPurchase();
  const purchase = await readPurchase(connection.sql, id);
  const history = await entryHistory(connection.sql, id);
  expect(history?.transactions).toMatchObject([
    { kind: "permit", nonce: "0", state: "final", attempts: [{}] },
    { kind: "purchase", nonce: "1", state: "final", attempts: [{}] },
  ]);
  expect(await rows()).toEqual([1, 1, 2, 2]);
  expect(await archive()).toBe(1);
  expect(await rows()).toEqual([0, 0, 0, 0]);
  expect(await readPurchase(connection.sql, id)).toEqual(purchase);
  expect(await entryHistory(connection.sql, id)).toEqual(history);
});

test("a bought purchase stays while the block of its permit is watched, in another wallet too", async () => {
  await oldPurchase();
  // As if another wallet had sent the permit, and a reorganisation could still reach it.
  const other = "0x00000000000000000000000000000000000000dd";
  const { sql } = connection;
  await sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce)
    select chain_id, ${other}, 1 from service.relayer_wallet where address = ${relayer}`;
  await sql`update service.transaction set wallet = ${other} where kind = 'permit'`;
  expect(await archive()).toBe(0);
  expect(await rows()).toEqual([1, 1, 2, 2]);
  await sql`update service.relayer_wallet set final_below = 1 where address = ${other}`;
  expect(await archive()).toBe(1);
});

test("a refused purchase stays until its permit is final and no longer watched, and then goes with it", async () => {
  const ids = await acceptedWithPermit();
  const [permit] = await signWith(await newLease(), ids, "permit");
  await refusePurchase(connection.sql, ids.purchase, { code: "relayer_unavailable", message: "too late" });
  await age();
  expect(await archive()).toBe(0);
  await minePermit(permit?.hash, 7);
  await age();
  expect(await archive()).toBe(0);
  await confirm(7);
  await age();
  const history = await entryHistory(connection.sql, ids.purchase);
  expect(history).toMatchObject({
    fields: { failure_message: "too late" },
    transactions: [{ kind: "permit", state: "final", attempts: [{ hash: permit?.hash }] }],
  });
  expect(await archive()).toBe(1);
  expect(await rows()).toEqual([0, 0, 0, 0]);
  expect(await entryHistory(connection.sql, ids.purchase)).toEqual(history);
});
