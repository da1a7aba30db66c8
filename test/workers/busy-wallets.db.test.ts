/** Which wallets the recovery looks at: those with something to do, and no others. */
import { expect, test } from "vitest";
import { busyWallets, type WalletCounts } from "../../workers/ledger/transactions.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import {
  accepted,
  assign,
  buyFinally,
  chainId,
  connection,
  newLease,
  relayer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** Whether the relayer's wallet is busy, with a count of 3 where nothing else is said. */
async function isBusy(counts: Partial<WalletCounts> = {}): Promise<boolean> {
  const all = [{ address: relayer, mined: 3, pooled: 3, ...counts }];
  return (await busyWallets(connection.sql, chainId, all)).has(relayer);
}

test("a wallet whose ledger and chain agree is not busy", async () => {
  await newLease(3);
  expect(await isBusy()).toBe(false);
  expect(await isBusy({ mined: null, pooled: null })).toBe(false);
});

test("a wallet with transactions that the ledger lacks is busy until they are reconciled", async () => {
  await newLease(3);
  expect(await isBusy({ pooled: 4 })).toBe(true);
  await noteUnknown(connection.sql, chainId, relayer, 4);
  expect(await isBusy()).toBe(true);
});

test("a wallet with a nonce whose transaction is not mined is busy", async () => {
  const lease = await newLease(3);
  await assign(lease, [await accepted()]);
  expect(await isBusy()).toBe(true);
});

test("a wallet with a final transaction that the chain lacks is busy", async () => {
  await buyFinally(await newLease(3), [await accepted()], [7]);
  expect(await isBusy({ mined: 3, pooled: 4 })).toBe(true);
  expect(await isBusy({ mined: 4, pooled: 4 })).toBe(false);
});
