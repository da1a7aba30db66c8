/** Outcomes: stored once, replaced by another block, final or dropped with their block; and the columns of each state. */
import type { Hex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { hasMinedFillers, storeFiller } from "../../workers/ledger/fillers.ts";
import type { Candidate } from "../../workers/ledger/gas-spending.ts";
import { type Lease, raiseNextNonce, takeLease } from "../../workers/ledger/leases.ts";
import { openTransactions } from "../../workers/ledger/open-transactions.ts";
import { confirmBlock, dropBlock, markLost, settle } from "../../workers/ledger/outcomes.ts";
import { type Call, markSent, type Signed, signPurchases, storeForm } from "../../workers/ledger/signing.ts";
import { mayRest } from "../support/database.ts";
import {
  accept,
  accepted,
  bought,
  call,
  chainId,
  connection,
  databaseUrl,
  newLease,
  newPurchase,
  relayer,
  router,
  sign,
  signer,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("settling", () => {
  let lease: Lease;
  let id: string;
  let hash: Hex;

  beforeEach(async () => {
    lease = await newLease();
    id = await accepted();
    const [signed] = await sign(lease, [id]);
    if (!signed) throw new Error("not signed");
    hash = signed.signed.hash;
  });

  test("a second time changes nothing; another block replaces the receipt; a final receipt stays", async () => {
    expect(await settle(connection.sql, [bought(hash, 7)])).toMatchObject([{ id, kind: "bought", hash }]);
    expect(await settle(connection.sql, [bought(hash, 7)])).toEqual([]);
    expect(await settle(connection.sql, [bought(hash, 8, 2n)])).toMatchObject([{ id }]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({
      state: "mined",
      receipt: { policyId: 2n, blockNumber: 8n },
    });
    await confirmBlock(connection.sql, chainId, { number: 8n, hash: word(8) });
    expect(await settle(connection.sql, [bought(hash, 9, 3n)])).toEqual([]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({
      state: "confirmed",
      receipt: { policyId: 2n },
    });
  });

  test("the call or the empty transfer that replaces it: the one that is mined decides", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open) throw new Error("nothing is open");
    const form = { signed: await signer(0, call), cancels: true };
    expect(await storeForm(connection.sql, lease, open.id, form)).toBe(true);
    const replaced = {
      hash: form.signed.hash,
      blockNumber: 7n,
      blockHash: word(7),
      gasCost: 1n,
      kind: "replaced" as const,
      code: "purchase_expired" as const,
      message: "m",
    };
    expect(await settle(connection.sql, [replaced])).toMatchObject([{ id, kind: "replaced" }]);
    // Until it is final a reorganisation may still let the call be mined instead.
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "broadcast" });
    await settle(connection.sql, [bought(hash, 8)]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "mined" });
    await settle(connection.sql, [{ ...replaced, blockNumber: 9n, blockHash: word(9) }]);
    await confirmBlock(connection.sql, chainId, { number: 9n, hash: word(9) });
    expect(await readPurchase(connection.sql, id)).toMatchObject({
      state: "replaced",
      code: "purchase_expired",
      txHash: form.signed.hash,
    });
  });

  test("a replaced purchase frees its idempotency key once it is final", async () => {
    const key = { idempotencyKey: "to-be-freed" };
    const first = await accepted(key);
    const [signed] = await sign(lease, [first]);
    if (!signed) throw new Error("not signed");
    await settle(connection.sql, [
      {
        hash: signed.signed.hash,
        blockNumber: 7n,
        blockHash: word(7),
        gasCost: 1n,
        kind: "replaced",
        code: "purchase_expired",
        message: "m",
      },
    ]);
    expect(await accept(newPurchase(key))).toMatchObject({ outcome: "joined", purchase: { id: first } });
    await confirmBlock(connection.sql, chainId, { number: 7n, hash: word(7) });
    expect(await accept(newPurchase(key))).toMatchObject({ outcome: "created" });
  });

  test("concurrent rounds in different orders, beside a dropped block, do not deadlock", async () => {
    const ids = [id, ...(await Promise.all(Array.from({ length: 20 }, () => accepted())))];
    const signed = await sign(lease, ids.slice(1));
    const outcomes = [hash, ...signed.map((one) => one.signed.hash)].map((one) => bought(one, 7));
    await Promise.all([
      settle(connection.sql, outcomes),
      settle(connection.sql, outcomes.toReversed()),
      dropBlock(connection.sql, chainId, { number: 7n, hash: word(7) }),
      settle(connection.sql, outcomes.toReversed()),
    ]);
    await settle(connection.sql, outcomes);
    const states = await Promise.all(
      ids.map(async (one) => (await readPurchase(connection.sql, one))?.state),
    );
    expect(new Set(states)).toEqual(new Set(["mined"]));
  });

  test("a late note that the bytes were sent does not undo the outcome", async () => {
    await settle(connection.sql, [bought(hash, 7)]);
    await markSent(connection.sql, [{ hash, accepted: true }]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "mined" });
  });

  test("a purchase that lost its nonce is signed again under another one", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    await markLost(connection.sql, Number(open?.id), hash);
    // The holder turned out to be one of our own forms: nothing is lost.
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "signed" });
    await markLost(connection.sql, Number(open?.id), word(99));
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "accepted" });
    expect(await sign(lease, [id])).toMatchObject([{ id, nonce: 1 }]);
  });

  test("a purchase cannot have two transactions that may be mined", async () => {
    await expect(connection.sql`
      insert into service.transaction (chain_id, wallet, nonce, kind, purchase_id, "to", data, gas_limit)
      values (${chainId}, ${relayer}, 1, 'purchase', ${id}, ${router}, '0x', 21000)`).rejects.toThrow(
      "transaction_purchase",
    );
  });
});

test("a state cannot be stored without the columns that prove it", async () => {
  const id = await accepted();
  const hash = word(5);
  const illegal = [
    "state = 'signed'",
    "state = 'broadcast'",
    "state = 'mined'",
    `state = 'mined', tx_hash = '${hash}', block_number = 1, block_hash = '${hash}'`,
    `state = 'confirmed', tx_hash = '${hash}', block_number = 1, block_hash = '${hash}', policy_id = 1, premium_paid = 1`,
    "state = 'failed', joinable = false",
    "state = 'failed', failure_code = 'c', failure_message = 'm', joinable = false",
    // Signed, without a block that proves the failure.
    `state = 'failed', failure_code = 'c', failure_message = 'm', tx_hash = '${hash}', final_at = now()`,
    `state = 'accepted', tx_hash = '${hash}'`,
    "state = 'done'",
    "buyer = upper(buyer)",
    "coverage_amount = 0",
  ];
  for (const change of illegal) {
    await expect(
      connection.sql.unsafe(`update service.purchase set ${change} where id = '${id}'`),
      change,
    ).rejects.toThrow(/violates check constraint/);
  }
});

describe("concurrent outcomes", () => {
  const bought = (hash: Hex, block: number) => ({
    kind: "bought" as const,
    hash,
    blockNumber: BigInt(block),
    blockHash: word(block),
    policyId: BigInt(block),
    premiumPaid: 292_000n,
    gasCost: 100n,
  });
  const block = (n: number) => ({ number: BigInt(n), hash: word(n) });
  const states = () => connection.sql`
    select t.state as transaction, p.state as purchase, p.final_at is not null as final, p.block_number::int as block
    from service.transaction t join service.purchase p on p.id = t.purchase_id`;

  /** Settles a purchase in block 7 and, in an open transaction, in block 8; `meanwhile` handles block 7 concurrently. */
  async function movedWhile(meanwhile: () => Promise<unknown>): Promise<void> {
    const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
    if (!lease) throw new Error("no lease");
    await raiseNextNonce(connection.sql, lease, 0);
    const id = await accepted();
    const form: Signed = { hash: word(99), bytes: "0x1234", maxFee: 30n, priorityFee: 1n };
    await signPurchases(connection.sql, {
      lease,
      calls: new Map([[id, { to: router, data: "0x1234", value: 0n, gasLimit: 21_000n }]]),
      choose: (candidates: readonly Candidate[]) => ({ sign: candidates.map((candidate) => candidate.id) }),
      sign: async () => form,
    });
    await settle(connection.sql, [bought(form.hash, 7)]);
    // `meanwhile` reads block 7 and has to wait for the lock on the transaction's row.
    const other = connect(databaseUrl, { name: "other", max: 1 });
    await other.sql`begin`;
    await mayRest(other.sql);
    await settle(other.sql, [bought(form.hash, 8)]);
    const asked = meanwhile();
    await waitFor({
      what: "the statement to wait for the row",
      probe: async () => {
        const rows = await connection.sql`
          select 1 from pg_stat_activity
          where datname = current_database() and application_name = 'test' and wait_event_type = 'Lock'`;
        return rows.length > 0 ? true : undefined;
      },
    });
    await other.sql`commit`;
    await asked;
    await other.close();
  }

  test("a purchase that moved to another block is made final by that block only", async () => {
    await movedWhile(() => confirmBlock(connection.sql, chainId, block(7)));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    await confirmBlock(connection.sql, chainId, block(8));
    expect(await states()).toEqual([{ transaction: "final", purchase: "confirmed", final: true, block: 8 }]);
  });

  test("a purchase that moved to another block is not dropped with the old one", async () => {
    await movedWhile(async () => expect(await dropBlock(connection.sql, chainId, block(7))).toEqual([]));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    expect(await dropBlock(connection.sql, chainId, block(8))).toHaveLength(1);
    expect(await states()).toEqual([
      { transaction: "open", purchase: "broadcast", final: false, block: null },
    ]);
  });
});

test("a filler that was mined hours after its signing is still watched", async () => {
  const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
  if (!lease) throw new Error("no lease");
  await raiseNextNonce(connection.sql, lease, 1);
  const call: Call = { to: relayer, data: "0x", value: 0n, gasLimit: 21_000n };
  const signed: Signed = { hash: word(1), bytes: "0x1234", maxFee: 30n, priorityFee: 1n };
  await storeFiller(connection.sql, lease, 0, { call, signed });
  const minedAfter = async (hours: number) => {
    await connection.sql`
      update service.transaction set state = 'mined', created_at = now() - make_interval(hours => ${hours})`;
    return hasMinedFillers(connection.sql, chainId, relayer);
  };
  expect(await minedAfter(12)).toBe(true);
  expect(await minedAfter(48)).toBe(false);
});
