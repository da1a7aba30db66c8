/** Nonces that the operator is shown as gaps, in a ledger with archived purchases. */
import { expect, test } from "vitest";
import { reportGaps } from "../../lib/ledger/report.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { markLost } from "../../workers/ledger/outcomes.ts";
import {
  accepted,
  buyFinally,
  connection,
  mineFiller,
  newLease,
  sign,
  useLedgerDatabase,
  word,
} from "../workers/support/ledger-fixture.ts";
import { age, archive } from "../workers/support/old-purchases.ts";

useLedgerDatabase();

/** A final filler with nonce 0, and archived purchases with the nonces 1 and 2. */
async function archiveTwo(): Promise<Lease> {
  const lease = await newLease(1);
  await mineFiller(lease, 0, 7);
  await buyFinally(lease, [await accepted(), await accepted()], [7, 7]);
  await age();
  expect(await archive()).toBe(2);
  return lease;
}

const gaps = async () => (await reportGaps(connection.sql, 10)).map(({ nonce }) => nonce);

test("nonces of archived purchases are no gaps", async () => {
  const lease = await archiveTwo();
  await sign(lease, [await accepted()]);
  expect(await gaps()).toEqual([]);
});

test("a nonce that the ledger lacks above a purchase that is left is one", async () => {
  const lease = await archiveTwo();
  await buyFinally(lease, [await accepted()], [8]);
  await connection.sql`update service.relayer_wallet set next_nonce = next_nonce + 1`;
  await sign(lease, [await accepted()]);
  expect(await gaps()).toEqual([4]);
});

test("a nonce that was lost to another sender below one in flight is one: if a reorganisation dropped that sender's, all above wait", async () => {
  const lease = await newLease(1);
  await mineFiller(lease, 0, 7);
  const [lost] = await sign(lease, [await accepted()]);
  await sign(lease, [await accepted()]);
  expect(await gaps()).toEqual([]);
  await markLost(connection.sql, lost?.transactionId ?? 0, word(9));
  expect(await gaps()).toEqual([1]);
});
