/** Outcomes: stored once, replaced by another block, final or dropped with their block; and the columns of each state. */
import type { Hex } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { markLost, settle } from "../../workers/ledger/outcomes.ts";
import { noteSent, openTransactions, storeForms } from "../../workers/ledger/transactions.ts";
import {
  accept,
  accepted,
  bought,
  call,
  chainId,
  confirm,
  connection,
  drop,
  form,
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
    await confirm(8);
    expect(await settle(connection.sql, [bought(hash, 9, 3n)])).toEqual([]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({
      state: "confirmed",
      receipt: { policyId: 2n },
    });
  });

  test("the call or the empty transfer that replaces it: the one that is mined decides", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open) throw new Error("nothing is open");
    const cancel = form(open.id, await signer(0, call), true);
    expect([...(await storeForms(connection.sql, lease, [cancel])).keys()]).toEqual([cancel.signed.hash]);
    const replaced = {
      hash: cancel.signed.hash,
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
    await confirm(9);
    expect(await readPurchase(connection.sql, id)).toMatchObject({
      state: "replaced",
      code: "purchase_expired",
      txHash: cancel.signed.hash,
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
    await confirm(7);
    expect(await accept(newPurchase(key))).toMatchObject({ outcome: "created" });
  });

  test.each([
    { failedBy: "protocol", outcome: "created" },
    { failedBy: "buyer", outcome: "joined" },
  ] as const)(
    "a purchase that reverted by the $failedBy's making, once final: the same key is $outcome",
    async ({ failedBy, outcome }) => {
      const key = { idempotencyKey: "reverted" };
      const [signed] = await sign(lease, [await accepted(key)]);
      const failure = { code: "onchain_revert", message: "m", failedBy } as const;
      const reverted = { ...bought(signed?.signed.hash, 7), ...failure, kind: "reverted" as const };
      await settle(connection.sql, [reverted]);
      // A reorganisation may still make it a purchase.
      expect(await accept(newPurchase(key))).toMatchObject({ outcome: "joined" });
      await confirm(7);
      expect(await accept(newPurchase(key))).toMatchObject({ outcome });
      const reverts = await connection.sql`select wallet from service.buyer_revert`;
      expect(reverts).toHaveLength(failedBy === "buyer" ? 1 : 0);
    },
  );

  test("concurrent rounds in different orders, beside a dropped block, do not deadlock", async () => {
    const ids = [id, ...(await Promise.all(Array.from({ length: 20 }, () => accepted())))];
    const signed = await sign(lease, ids.slice(1));
    const outcomes = [hash, ...signed.map((one) => one.signed.hash)].map((one) => bought(one, 7));
    await Promise.all([
      settle(connection.sql, outcomes),
      settle(connection.sql, outcomes.toReversed()),
      drop(7),
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
    await noteSent(connection.sql, [{ hash, taken: false, again: false }]);
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "mined" });
  });

  test("a purchase that lost its nonce is signed again under another one", async () => {
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    await markLost(connection.sql, Number(open?.id), hash);
    // The holder turned out to be one of our own forms: nothing is lost.
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "broadcast" });
    await markLost(connection.sql, Number(open?.id), word(99));
    expect(await readPurchase(connection.sql, id)).toMatchObject({ state: "accepted" });
    expect(await sign(lease, [id])).toMatchObject([{ id, nonce: 1 }]);
  });

  test("a purchase cannot have two transactions that may be mined", async () => {
    await expect(connection.sql`
      insert into service.transaction (
        chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, "to", data, gas_limit)
      values (${chainId}, ${relayer}, 1, 'purchase', ${id}, ${relayer}, ${relayer}, 1, ${router}, '0x', 21000)`).rejects.toThrow(
      "transaction_intent",
    );
  });
});

test("an outcome cannot be stored without the columns that prove it", async () => {
  const lease = await newLease();
  const id = await accepted();
  await sign(lease, [id]);
  const hash = word(5);
  const mined = `hash = '${hash}', block_number = 1, block_hash = '${hash}', gas_cost = 1, settled_at = now()`;
  const failure = "failure_code = 'c', failure_message = 'm'";
  const illegal = [
    "outcome = 'done'",
    "final_at = now()",
    "block_number = 1",
    `hash = '${hash}'`,
    // Bought, without its policy.
    `${mined}, outcome = 'done'`,
    `${mined}, outcome = 'done', policy_id = 1`,
    `${mined}, outcome = 'done', policy_id = 1, premium_paid = 1, ${failure}`,
    `${mined}, outcome = 'reverted', ${failure}`,
    `${mined}, outcome = 'reverted', failed_by = 'buyer'`,
    `${mined}, outcome = 'replaced', ${failure}, policy_id = 1, premium_paid = 1`,
    `${mined}, outcome = 'replaced', ${failure}, lost_to = '${hash}'`,
    `${mined}, outcome = 'gone', ${failure}`,
    "intent = null",
  ];
  for (const change of illegal) {
    await expect(
      connection.sql.unsafe(`update service.transaction set ${change} where intent = '${id}'`),
      change,
    ).rejects.toThrow(/violates check constraint/);
  }
  for (const change of [
    "failure_code = 'c'",
    `${failure}, refused_at = now()`,
    "buyer = upper(buyer)",
    "quoted_premium = -1",
  ]) {
    await expect(
      connection.sql.unsafe(`update service.purchase set ${change} where id = '${id}'`),
      change,
    ).rejects.toThrow(/violates check constraint/);
  }
});
