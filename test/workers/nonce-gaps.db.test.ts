/** Fillers of nonce gaps: the recovery sees each of them, however deep the transactions around the gap lie. */
import type { Hex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { createLogger } from "../../lib/log.ts";
import { storeFillers } from "../../workers/ledger/fillers.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { markLost, raiseWatermarks, settle } from "../../workers/ledger/outcomes.ts";
import { openTransactions } from "../../workers/ledger/transactions.ts";
import { LOOK_AFTER } from "../../workers/relayer/recovery/next-step.ts";
import { closeNonceGaps } from "../../workers/relayer/recovery/used-nonces.ts";
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
  word,
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

/** What a node says of the nonce of a lost transaction. */
type LostNonce = { head?: number; atHead?: number; holder?: "mined" | "gone" };

/** As the recovery, with a node that has mined the nonces below this one. */
async function closeGaps(
  minedNonce: number,
  { head = 3000, atHead = minedNonce, holder = "gone" }: LostNonce = {},
): Promise<void> {
  const [lowest] = await openTransactions(connection.sql, chainId, relayer, 1);
  if (!lowest) throw new Error("nothing is open");
  const block = { number: BigInt(head), hash: word(head) };
  const chain = {
    block: async () => ({ ...block, parentHash: word(0), timestamp: 1n, baseFee: 1n, transactions: [] }),
    nonce: async () => atHead,
    receipt: async (hash: Hex) =>
      holder === "gone"
        ? undefined
        : { hash, blockNumber: 8n, blockHash: word(8), succeeded: true, logs: [], gasCost: 1n },
  };
  const context = { sql: connection.sql, chainId, log: createLogger("test", "silent"), chain };
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

test("archived nonces are not filled while the node lacks all of a wallet whose final transactions are archived", async () => {
  await age();
  expect(await archive()).toBe(1);
  await closeGaps(0);
  expect(await openNonces()).toEqual([1, 2]);
});

/** Nonce 2 is mined, and a purchase has lost nonce 3 to another program. @returns the purchase. */
async function loseNonce3(): Promise<string> {
  const [second] = await openTransactions(connection.sql, chainId, relayer, 1);
  await settle(connection.sql, [bought(second?.attempts[0]?.hash, 8, 2n)]);
  const id = await accepted();
  const [lost] = await sign(lease, [id]);
  await markLost(connection.sql, lost?.transactionId ?? 0, word(9));
  await connection.sql`
    insert into service.watched_block (chain_id, number, hash) values (${chainId}, 2000, ${word(2000)})
    on conflict (chain_id) do update set number = 2000`;
  return id;
}

const rowOf = async (nonce: number) => {
  const [row] = await connection.sql`
    select t.kind, t.intent, t.state, count(a.hash)::int as forms
    from service.transaction t left join service.attempt a on a.transaction_id = t.id where t.nonce = ${nonce} group by t.id`;
  return row;
};

test("a lost nonce is filled once a deep reorganisation has dropped its holder: the lost bytes are never sent", async () => {
  const id = await loseNonce3();
  await sign(lease, [id]);
  expect(await openNonces()).toEqual([4]);
  await closeGaps(3);
  expect(await openNonces()).toEqual([3, 4]);
  expect(await rowOf(3)).toEqual({ kind: "filler", intent: null, state: "open", forms: 0 });
  expect(await rowOf(4)).toEqual({ kind: "purchase", intent: id, state: "open", forms: 1 });
});

test("a lost nonce is not filled while its holder is mined, or the node does not know", async () => {
  await sign(lease, [await loseNonce3()]);
  await closeGaps(4);
  await closeGaps(3, { holder: "mined" });
  await closeGaps(3, { atHead: 4 });
  await closeGaps(3, { head: 1999 });
  expect(await openNonces()).toEqual([4]);
  expect(await rowOf(3)).toMatchObject({ kind: "purchase", state: "lost", forms: 1 });
});

test("a lost nonce stays as the proof that its purchase was signed, until that is signed again", async () => {
  await loseNonce3();
  await sign(lease, [await accepted()]);
  await closeGaps(3);
  expect(await openNonces()).toEqual([4]);
  expect(await rowOf(3)).toMatchObject({ state: "lost", forms: 1 });
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
