/** Purchases that a reorganisation opens again after they were final. */
import { expect, test } from "vitest";
import { confirmBlocks, dropBlocks, settle } from "../../workers/ledger/outcomes.ts";
import { openTransactions } from "../../workers/ledger/transactions.ts";
import { nextStep } from "../../workers/relayer/recovery/next-step.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  newLease,
  newPurchase,
  relayer,
  sign,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";
import { acceptedWithPermit, minePermit, signWith } from "./support/permits.ts";

useLedgerDatabase();

const block = { number: 7n, hash: word(7) };
const failure = { code: "onchain_revert", message: "m", failedBy: "protocol", kind: "reverted" } as const;

/** The recovery's next step for each open transaction, in the order of their nonces; the node has mined none of them. */
async function nextSteps() {
  const view = { minedNonce: 0, pooledNonce: 0, baseFee: 1n };
  const open = await openTransactions(connection.sql, chainId, relayer, 10);
  return open.map((transaction) => `${transaction.kind}: ${nextStep(transaction, view, 600).do}`);
}

/** A purchase with this key, reverted by the protocol's making and final: its key is free. */
async function freedPurchase(idempotencyKey: string): Promise<string> {
  const id = await accepted({ idempotencyKey });
  const [signed] = await sign(await newLease(), [id]);
  await settle(connection.sql, [{ ...bought(signed?.signed.hash, 7), ...failure }]);
  await confirmBlocks(connection.sql, chainId, [block]);
  return id;
}

test("a purchase that may be mined again takes back its freed key: a repeated call does not buy twice", async () => {
  const id = await freedPurchase("reopened");
  await dropBlocks(connection.sql, chainId, [block]);
  expect(await accept(newPurchase({ idempotencyKey: "reopened" }))).toMatchObject({
    outcome: "joined",
    purchase: { id },
  });
  expect(await nextSteps()).toEqual(["purchase: send"]);
});

test("a key that was used again meanwhile stays with the newer purchase, and the older one is cancelled", async () => {
  await freedPurchase("used again");
  const newer = await accepted({ idempotencyKey: "used again" });
  expect(await dropBlocks(connection.sql, chainId, [block])).toHaveLength(1);
  expect(await accept(newPurchase({ idempotencyKey: "used again" }))).toMatchObject({
    outcome: "joined",
    purchase: { id: newer },
  });
  expect(await nextSteps()).toEqual(["purchase: cancel"]);
});

test("the permit of a purchase that is cancelled for this is sent again: the newer purchase may need its allowance", async () => {
  const ids = await acceptedWithPermit({ idempotencyKey: "with a permit" });
  const [permit, purchase] = await signWith(await newLease(), ids, "both");
  await minePermit(permit?.hash, 7);
  await settle(connection.sql, [{ ...bought(purchase?.hash, 7), ...failure }]);
  await confirmBlocks(connection.sql, chainId, [block]);
  await accepted({ idempotencyKey: "with a permit" });
  await dropBlocks(connection.sql, chainId, [block]);
  expect(await nextSteps()).toEqual(["permit: send", "purchase: cancel"]);
});
