/** Fillers of nonce gaps: the recovery sees each of them, however deep the transactions around the gap lie. */
import { beforeEach, expect, test } from "vitest";
import { createLogger } from "../../lib/log.ts";
import { storeFillers } from "../../workers/ledger/fillers.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { openTransactions } from "../../workers/ledger/open-transactions.ts";
import { raiseWatermarks, settle } from "../../workers/ledger/outcomes.ts";
import { closeNonceGaps } from "../../workers/relayer/recovery/close-nonce-gaps.ts";
import { LOOK_AFTER } from "../../workers/relayer/recovery/next-step.ts";
import {
  accepted,
  bought,
  buyFinally,
  call,
  chainId,
  confirm,
  connection,
  drop,
  mineFiller,
  newLease,
  relayer,
  sign,
  untilStatementWaits,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";
import { age, archive } from "./support/old-purchases.ts";

useLedgerDatabase();

/** A block so high that block 7 is not watched any more. */
const DEEP = 1000n;

let lease: Lease;
/** Nonce 0 is final, nonce 1 was another program's and has left the node's pool, and nonce 2 waits for it. */
beforeEach(async () => {
  lease = await newLease();
  await buyFinally(lease, [await accepted()], [7]);
  await connection.sql`update service.relayer_wallet set next_nonce = 2`;
  await sign(lease, [await accepted()]);
});

const openNonces = async () =>
  (await openTransactions(connection.sql, chainId, relayer, 10)).map(({ nonce }) => nonce);

test("a gap below the watched transactions is filled, and the filler is open", async () => {
  await raiseWatermarks(connection.sql, chainId, DEEP);
  await storeFillers(connection.sql, lease, [1], call);
  expect(await openNonces()).toEqual([1, 2]);
});

/** As the recovery, with a node that has mined the nonces below this one. */
async function closeGaps(minedNonce: number): Promise<void> {
  const [lowest] = await openTransactions(connection.sql, chainId, relayer, 1);
  if (!lowest) throw new Error("nothing is open");
  const context = { sql: connection.sql, chainId, log: createLogger("test", "silent") };
  const view = { minedNonce, pooledNonce: minedNonce, baseFee: 1n };
  await closeNonceGaps(context, { address: relayer, lease }, { ...lowest, openFor: LOOK_AFTER }, view);
}

test("a gap is filled once the node has all final transactions", async () => {
  await closeGaps(0);
  expect(await openNonces()).toEqual([2]);
  await closeGaps(1);
  expect(await openNonces()).toEqual([1, 2]);
});

test("archived nonces are not filled while a node that syncs anew lacks them and a final transaction", async () => {
  await age();
  expect(await archive()).toBe(1);
  const [second] = await openTransactions(connection.sql, chainId, relayer, 1);
  await settle(connection.sql, [bought(second?.attempts[0]?.hash, 2000, 2n)]);
  await confirm(2000);
  await sign(lease, [await accepted()]);
  for (const minedNonce of [0, 1, 2]) await closeGaps(minedNonce);
  expect(await openNonces()).toEqual([3]);
});

test("a filler whose block falls out of the chain is open again", async () => {
  await raiseWatermarks(connection.sql, chainId, DEEP);
  const hash = await mineFiller(lease, 1, 2000);
  expect(await openNonces()).toEqual([2]);
  expect(await drop(2000)).toEqual([hash]);
  expect(await openNonces()).toEqual([1, 2]);
});

test("a filler is open that is stored while another writer raises the watermarks", async () => {
  let storing = Promise.resolve();
  await connection.sql.begin(async (tx) => {
    await raiseWatermarks(tx, chainId, DEEP);
    storing = storeFillers(connection.sql, lease, [1], call);
    await untilStatementWaits();
  });
  await storing;
  expect(await openNonces()).toEqual([1, 2]);
});

test("a filler is open when another writer raises the watermarks before it is committed", async () => {
  await connection.sql.begin(async (tx) => {
    await storeFillers(tx, lease, [1], call);
    await raiseWatermarks(connection.sql, chainId, DEEP);
  });
  expect(await openNonces()).toEqual([1, 2]);
});
