/** Nonces that the operator is shown as gaps, in a ledger with archived purchases. */
import { expect, test } from "vitest";
import { reportGaps } from "../../scripts/ledger/report.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import {
  accepted,
  bought,
  confirm,
  connection,
  newLease,
  sign,
  useLedgerDatabase,
  word,
} from "../workers/support/ledger-fixture.ts";
import { age, archive } from "../workers/support/old-purchases.ts";
import { storeSignedFiller } from "../workers/support/signed-filler.ts";

useLedgerDatabase();

/** A final filler with nonce 0, and archived purchases with the nonces 1 and 2. */
async function archiveTwo(): Promise<Lease> {
  const lease = await newLease(1);
  await storeSignedFiller(connection.sql, lease, 0, word(1));
  const mined = { hash: word(1), blockNumber: 7n, blockHash: word(7), gasCost: 1n };
  await settle(connection.sql, [{ ...mined, kind: "done" }]);
  await buy(lease, 2);
  await age();
  expect(await archive()).toBe(2);
  return lease;
}

/** Purchases with the wallet's next nonces, final in block 7. */
async function buy(lease: Lease, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const [one] = await sign(lease, [await accepted()]);
    await settle(connection.sql, [bought(one?.signed.hash, 7, BigInt(one?.nonce ?? 0))]);
  }
  await confirm(7);
}

const gaps = async () => (await reportGaps(connection.sql, 10)).map(({ nonce }) => nonce);

test("nonces of archived purchases are no gaps", async () => {
  const lease = await archiveTwo();
  await sign(lease, [await accepted()]);
  expect(await gaps()).toEqual([]);
});

test("a nonce that the ledger lacks above a purchase that is left is one", async () => {
  const lease = await archiveTwo();
  await buy(lease, 1);
  await connection.sql`update service.relayer_wallet set next_nonce = next_nonce + 1`;
  await sign(lease, [await accepted()]);
  expect(await gaps()).toEqual([4]);
});
