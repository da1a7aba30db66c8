/**
 * A database that has lost nonces which this writer has given out, or never had the chain's, and a node that may be behind: what it
 * lacks counts only at a head that is later than the loss.
 */

import { expect, test } from "vitest";
import { createReadClient } from "../../lib/chain/client.ts";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { createLogger } from "../../lib/log.ts";
import { type Call, NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import { createMarks } from "../../workers/ledger/intent-marks.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import { compareWallet } from "../../workers/relayer/recovery/compare-wallet.ts";
import { type MinedUnknown, nonceKey } from "../../workers/relayer/recovery/reconcile.ts";
import {
  accepted,
  assign,
  call,
  chainId,
  connection,
  newLease,
  relayer,
  router,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";
import { usdc } from "./support/permits.ts";

useLedgerDatabase();

/** Longer than the node is waited for on a local chain, or than an unknown transaction has to be gone, in ms. */
const LONG = 60_000;
/** The head of a node that is behind, and one that is later than anything here, in Unix seconds. */
const BEHIND = { number: 20n, timestamp: 1n };
const LATER = { number: 30n, timestamp: 2n ** 40n };

/** A writer that has given out nonce 3, which the ledger lacks. `compare` runs with the chain's count of transactions at a head. */
async function loseNonce() {
  const lease = await newLease(3);
  const given = new Map([[relayer, 4]]);
  const minedUnknown: MinedUnknown = new Map();
  const context = {
    ...{ sql: connection.sql, chainId, coverRouter: router, usdc, keeperTargets: [] },
    log: createLogger("test", "silent"),
    ...{
      wallets: { given },
      minedUnknown,
      unknownMissingSince: new Map(),
      lostNonces: new Map<typeof relayer, number>(),
    },
    markOf: createMarks(connection.sql),
    price: async <T extends Call>(call: T) => ({ ...call, l1Fee: 0n }),
  };
  const compare = (count: number, head: typeof BEHIND) => {
    const block = { ...head, hash: word(7), parentHash: word(6), baseFee: 1n, transactions: [] };
    const chain = {
      // No node answers there: it is not known to be anvil.
      client: createReadClient({ chainId, name: "test" }, "http://127.0.0.1:1"),
      ...{ nonce: async () => count, transactions: async () => [], block: async () => block },
    };
    return compareWallet({ ...context, chain }, { address: relayer, lease }, count);
  };
  const expectWithheld = async () =>
    expect(assign(lease, [await accepted()], given)).rejects.toThrow(NoncesWithheld);
  return { lease, given, compare, expectWithheld, ...context };
}

const nonces = async () => (await unknownNonces(connection.sql, chainId)).map(({ nonce }) => nonce);

test("a count from before the loss lets no nonce be given out: the next count shows the lost transaction", async () => {
  const { compare, expectWithheld } = await loseNonce();
  await compare(3, LATER);
  await expectWithheld();
  await compare(4, LATER);
  expect(await nonces()).toEqual([3]);
  await expectWithheld();
});

test("counts of a node that is behind let no nonce be given out, however many: a later head shows the lost transaction", async () => {
  const { compare, expectWithheld, lostNonces } = await loseNonce();
  await compare(3, BEHIND);
  lostNonces.set(relayer, performance.now() - LONG);
  await compare(3, BEHIND);
  await compare(3, BEHIND);
  await expectWithheld();
  await compare(4, LATER);
  expect(await nonces()).toEqual([3]);
  await expectWithheld();
});

test("nonces that a later head lacks were never sent: they are given out again", async () => {
  const { lease, given, compare } = await loseNonce();
  await compare(3, LATER);
  await compare(3, LATER);
  expect(await assign(lease, [await accepted()], given)).toMatchObject([{ nonce: 3 }]);
});

/** A writer that has known for long that the chain lacks unknown transactions again. */
async function missUnknown() {
  const lost = await loseNonce();
  lost.given.clear();
  await noteUnknown(connection.sql, chainId, relayer, 5);
  lost.unknownMissingSince.set(relayer, performance.now() - LONG);
  return lost;
}

test("unknown transactions that a node which is behind lacks stay unknown, however long it lacks them", async () => {
  const { compare, expectWithheld } = await missUnknown();
  await compare(3, BEHIND);
  expect(await nonces()).toEqual([3, 4]);
  await expectWithheld();
});

test("an unknown transaction that was found in a block after the head stays unknown", async () => {
  const { minedUnknown, compare } = await missUnknown();
  const holder = { ...call, nonce: 3, from: relayer, hash: word(9), signed: undefined };
  minedUnknown.set(nonceKey(relayer, 3), { ...holder, blockNumber: LATER.number + 1n });
  await compare(3, LATER);
  expect(await nonces()).toEqual([3, 4]);
});

test("unknown transactions that a later head lacks are forgotten", async () => {
  const { lease, given, compare } = await missUnknown();
  await compare(3, LATER);
  expect(await nonces()).toEqual([]);
  expect(await assign(lease, [await accepted()], given)).toMatchObject([{ nonce: 3 }]);
});
