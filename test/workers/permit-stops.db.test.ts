/** The kill switch covers a buyer's permit as it covers the purchase that the permit came with. */
import { afterEach, expect, test } from "vitest";
import { openTransactions, storeForms, withheldHashes } from "../../workers/ledger/transactions.ts";
import { nextStep } from "../../workers/relayer/recovery/next-step.ts";
import {
  call,
  chainId,
  connection,
  form,
  keyId,
  newLease,
  relayer,
  signer,
  useLedgerDatabase,
  wallet,
} from "./support/ledger-fixture.ts";
import { acceptedWithPermit, assignWith, signWith } from "./support/permits.ts";

useLedgerDatabase();

const stop = (scope: string, subject: string) =>
  connection.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
afterEach(async () => {
  await connection.sql`truncate service.stop`;
});
const open = () => openTransactions(connection.sql, chainId, relayer, 10);

test.each([
  { scope: "global", subject: () => "", call: true, cancel: true, state: "halted" },
  { scope: "wallet", subject: () => relayer, call: true, cancel: true, state: "halted" },
  { scope: "wallet", subject: () => wallet, call: true, cancel: false, state: "stopped" },
  { scope: "key", subject: () => String(keyId), call: true, cancel: false, state: "stopped" },
  { scope: "key", subject: () => "999999", call: false, cancel: false, state: "free" },
])(
  "a stop of scope $scope withholds a signed permit ($call) and its cancelling transfer ($cancel): it is $state",
  async ({ scope, subject, call: holdsCall, cancel: holdsCancel, state }) => {
    const lease = await newLease();
    // Alone, as on a node that cannot simulate a sequence: its purchase still waits to be signed.
    const [sent] = await signWith(lease, await acceptedWithPermit(), "permit");
    if (!sent) throw new Error("nothing was signed");
    const cancel = form(sent.transactionId, await signer(0, call), true);
    const isFree = { stopped: false, halted: false };
    expect(await open()).toMatchObject([{ kind: "permit", ...isFree }]);
    await stop(scope, subject());
    expect(await open()).toMatchObject([
      { kind: "permit", stopped: state === "stopped", halted: state === "halted" },
    ]);
    await storeForms(connection.sql, lease, [cancel]);
    const held = await withheldHashes(connection.sql, [sent.hash, cancel.signed.hash]);
    expect([held.has(sent.hash), held.has(cancel.signed.hash)]).toEqual([holdsCall, holdsCancel]);
  },
);

test("a stop of the buyer's key cancels the permit and its purchase, and only those", async () => {
  const lease = await newLease();
  await signWith(lease, await acceptedWithPermit(), "both");
  await stop("key", String(keyId));
  const view = { minedNonce: 0, pooledNonce: 2, baseFee: 1n };
  const steps = (await open()).map((one) => [one.kind, nextStep(one, view, 300).do]);
  expect(steps).toEqual([
    ["permit", "cancel"],
    ["purchase", "cancel"],
  ]);
});

test("after a stop neither a permit nor its purchase gets a nonce", async () => {
  const lease = await newLease();
  const ids = await acceptedWithPermit();
  await stop("key", String(keyId));
  for (const wanted of ["permit", "both"] as const) {
    const { choice, assigned } = await assignWith(lease, ids, wanted);
    expect(assigned).toEqual([]);
    expect(choice.refuse).toMatchObject([{ id: ids.purchase, failure: { code: "purchases_stopped" } }]);
  }
});
