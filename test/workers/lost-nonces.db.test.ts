/** A database that has lost nonces which this writer has given out, and a count of the chain's from before the loss. */
import { expect, test } from "vitest";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { createLogger } from "../../lib/log.ts";
import { type Call, NoncesWithheld } from "../../workers/ledger/assign-nonces.ts";
import { compareWallet } from "../../workers/relayer/recovery/compare-wallet.ts";
import {
  accepted,
  assign,
  chainId,
  connection,
  newLease,
  relayer,
  router,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";
import { usdc } from "./support/permits.ts";

useLedgerDatabase();

/** A writer that has given out nonce 3, which the ledger lacks. `compare` runs with the chain's count of transactions. */
async function loseNonce() {
  const lease = await newLease(3);
  const given = new Map([[relayer, 4]]);
  const context = {
    ...{ sql: connection.sql, chainId, coverRouter: router, usdc, keeperTargets: [] },
    log: createLogger("test", "silent"),
    ...{ wallets: { given }, found: new Map(), goneSince: new Map(), lostNonces: new Set<typeof relayer>() },
    // A node without a block: unknown transactions are not searched for.
    chain: { nonce: async () => 0, transactions: async () => [], block: async () => undefined },
    price: async <T extends Call>(call: T) => ({ ...call, l1Fee: 0n }),
  };
  const compare = (count: number) => compareWallet(context, { address: relayer, lease }, count);
  return { lease, given, compare };
}

test("a count from before the loss lets no nonce be given out: the next count shows the lost transaction", async () => {
  const { lease, given, compare } = await loseNonce();
  const id = await accepted();
  await compare(3);
  await expect(assign(lease, [id], given)).rejects.toThrow(NoncesWithheld);
  await compare(4);
  expect(await unknownNonces(connection.sql, chainId)).toMatchObject([{ wallet: relayer, nonce: 3 }]);
  await expect(assign(lease, [id], given)).rejects.toThrow(NoncesWithheld);
});

test("nonces that two counts lack were never sent: they are given out again", async () => {
  const { lease, given, compare } = await loseNonce();
  await compare(3);
  await compare(3);
  expect(await assign(lease, [await accepted()], given)).toMatchObject([{ nonce: 3 }]);
});
