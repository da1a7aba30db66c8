/** Purchases that a reorganisation opens again after they were final. */
import { expect, test } from "vitest";
import { confirmBlocks, dropBlocks, settle } from "../../workers/ledger/outcomes.ts";
import {
  accept,
  accepted,
  bought,
  chainId,
  connection,
  newLease,
  newPurchase,
  sign,
  useLedgerDatabase,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

const block = { number: 7n, hash: word(7) };
const failure = { code: "onchain_revert", message: "m", failedBy: "protocol", kind: "reverted" } as const;

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
});

test("a key that was used again meanwhile stays with the newer purchase", async () => {
  await freedPurchase("used again");
  const newer = await accepted({ idempotencyKey: "used again" });
  expect(await dropBlocks(connection.sql, chainId, [block])).toHaveLength(1);
  expect(await accept(newPurchase({ idempotencyKey: "used again" }))).toMatchObject({
    outcome: "joined",
    purchase: { id: newer },
  });
});
