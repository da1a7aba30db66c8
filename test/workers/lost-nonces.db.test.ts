/** A node that has counted transactions which the ledger lacks, and lacks them again: after many heads empty transfers take their nonces. */
import { expect, test } from "vitest";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { createLogger } from "../../lib/log.ts";
import { type Call, NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import { createMarks } from "../../workers/ledger/intent-marks.ts";
import { noteUnknown } from "../../workers/ledger/unknown-transactions.ts";
import { compareWallet } from "../../workers/relayer/recovery/compare-wallets.ts";
import { HEADS } from "../../workers/relayer/recovery/context.ts";
import { type MinedUnknown, nonceKey } from "../../workers/relayer/recovery/reconcile.ts";
import {
  accepted,
  assign,
  call,
  chainId,
  connection,
  mineFillers,
  newLease,
  relayer,
  router,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";
import { usdc } from "./support/permits.ts";

useLedgerDatabase();

/** Notes nonces 3 and 4 of a wallet as unknown. `compare` runs with the node's count and height. */
async function missUnknown() {
  const lease = await newLease(3);
  const minedUnknown: MinedUnknown = new Map();
  const unknownMissingFrom = new Map<typeof relayer, bigint>();
  const compare = (count: number, height: bigint) => {
    const block = {
      number: height,
      timestamp: 1n,
      hash: word(7),
      parentHash: word(6),
      baseFee: 1n,
      transactions: [],
    };
    const context = {
      ...{ sql: connection.sql, chainId, coverRouter: router, usdc, keeperTargets: [] },
      ...{ minedUnknown, unknownMissingFrom, height: () => height },
      ...{ log: createLogger("test", "silent"), markOf: createMarks(connection.sql) },
      price: async <T extends Call>(one: T) => ({ ...one, l1Fee: 0n }),
      chain: { nonce: async () => count, transactions: async () => [], block: async () => block },
    };
    return compareWallet(context, { address: relayer, lease }, count);
  };
  await noteUnknown(connection.sql, chainId, relayer, 5);
  const expectWithheld = async () =>
    expect(assign(lease, [await accepted()])).rejects.toThrow(NoncesWithheld);
  return { lease, minedUnknown, compare, expectWithheld };
}

const nonces = async () => (await unknownNonces(connection.sql, chainId)).map(({ nonce }) => nonce);

test("those that a node lacks for a few heads stay unknown, and so do all once it has them again", async () => {
  const { compare, expectWithheld } = await missUnknown();
  await compare(3, 20n);
  await compare(3, 20n + HEADS - 1n);
  await compare(5, 20n + HEADS);
  await compare(4, 21n + HEADS);
  expect(await nonces()).toEqual([3, 4]);
  await expectWithheld();
});

test("those that it lacks for many heads are given to empty transfers, those that it has stay unknown", async () => {
  const { lease, compare, expectWithheld } = await missUnknown();
  await compare(4, 20n);
  await compare(4, 20n + HEADS);
  expect(await nonces()).toEqual([3]);
  await expectWithheld();
  await compare(3, 21n + HEADS);
  await compare(3, 21n + HEADS + HEADS);
  expect(await nonces()).toEqual([]);
  await expectWithheld();
  await mineFillers();
  await compare(5, 22n + HEADS + HEADS);
  expect(await assign(lease, [await accepted()])).toMatchObject([{ nonce: 5 }]);
});

test("while one of them was found in a block the node is behind, and all stay unknown", async () => {
  const { minedUnknown, compare } = await missUnknown();
  const holder = { ...call, nonce: 3, from: relayer, hash: word(9), signed: undefined };
  minedUnknown.set(nonceKey(relayer, 3), { ...holder, blockNumber: 100n });
  await compare(3, 20n);
  await compare(3, 20n + HEADS);
  expect(await nonces()).toEqual([3, 4]);
});
