/** Accepting purchases with permits: one permit of a buyer at a time, and never below what its purchases need. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import type { Funds } from "../../api/buying/refusal-reasons.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import {
  accept,
  accepted,
  bought,
  connection,
  drop,
  newLease,
  newPurchase,
  relayer,
  request,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";
import { acceptedWithPermit, minePermit, PREMIUM, permit, signWith } from "./support/permits.ts";

useLedgerDatabase();

const inFlight = { outcome: "refused", by: { kind: "permit_in_flight" } };
/** A purchase with a permit; the permit's value is the allowance. */
const withPermit = (value = PREMIUM, more: Parameters<typeof newPurchase>[0] = {}) => {
  const funds: Funds = { block: 5n, balance: 10n ** 12n, allowance: value };
  const idempotencyKey = randomUUID();
  return newPurchase({
    idempotencyKey,
    permit: { ...permit, value },
    quotedPremium: PREMIUM,
    funds,
    ...more,
  });
};

test("another permit waits until the first is mined, and then goes with the next purchase", async () => {
  const lease = await newLease();
  const first = await acceptedWithPermit();
  expect(await accept(withPermit(10n * PREMIUM))).toEqual(inFlight);
  const [sent, purchase] = await signWith(lease, first, "both");
  expect(await accept(withPermit(10n * PREMIUM))).toEqual(inFlight);
  await minePermit(sent?.hash, 7);
  expect(await accept(withPermit(10n * PREMIUM))).toMatchObject({ outcome: "created" });
  await settle(connection.sql, [bought(purchase?.hash, 7)]);
});

test("another permit waits while the first is mined and its purchase still waits to be signed", async () => {
  const first = await acceptedWithPermit();
  const [sent] = await signWith(await newLease(), first, "permit");
  await minePermit(sent?.hash, 7);
  expect(await accept(withPermit(10n * PREMIUM))).toEqual(inFlight);
  await refusePurchase(connection.sql, first.purchase, { code: "chain_not_found", message: "m" });
  expect(await accept(withPermit(10n * PREMIUM))).toMatchObject({ outcome: "created" });
});

test("another permit waits again while a reorganisation has dropped the first", async () => {
  const lease = await newLease();
  const [sent] = await signWith(lease, await acceptedWithPermit(), "both");
  await minePermit(sent?.hash, 7);
  await drop(7);
  expect(await accept(withPermit(10n * PREMIUM))).toEqual(inFlight);
});

test("another permit waits while that of a refused purchase is on its way", async () => {
  const first = await acceptedWithPermit();
  await signWith(await newLease(), first, "permit");
  await refusePurchase(connection.sql, first.purchase, { code: "chain_not_found", message: "m" });
  expect(await accept(withPermit(10n * PREMIUM))).toEqual(inFlight);
});

test("of fifty permits at once exactly one is accepted", async () => {
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, n) => accept(withPermit(BigInt(n + 1) * 50n * PREMIUM))),
  );
  expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
  expect(results.filter(({ outcome }) => outcome === "refused")).toEqual(
    Array.from({ length: 49 }, () => inFlight),
  );
  expect(await connection.sql`select 1 from service.permit`).toHaveLength(1);
});

test("a call that repeats a purchase with its permit is that purchase", async () => {
  const first = withPermit();
  const created = await accept(first);
  expect(created).toMatchObject({ outcome: "created" });
  if (!("purchase" in created)) throw new Error("no purchase");
  expect(await accept(first)).toMatchObject({ outcome: "joined", purchase: { id: created.purchase.id } });
  expect(await connection.sql`select 1 from service.permit`).toHaveLength(1);
});

test("a permit concerns neither other buyers nor another chain", async () => {
  await acceptedWithPermit();
  const other = { wallet: relayer, request: { ...request, buyer: relayer } };
  expect(await accept(withPermit(PREMIUM, other))).toMatchObject({ outcome: "created" });
  expect(await accept(withPermit(PREMIUM, { chainId: 84532 }))).toMatchObject({ outcome: "created" });
});

test("a permit below the premiums in flight and its own is refused: it would take what the others need", async () => {
  await accepted({ quotedPremium: PREMIUM });
  expect(await accept(withPermit(2n * PREMIUM - 1n))).toMatchObject({
    outcome: "refused",
    by: { kind: "short_of_funds", held: PREMIUM, funds: { allowance: 2n * PREMIUM - 1n } },
  });
  expect(await connection.sql`select 1 from service.permit`).toEqual([]);
  expect(await accept(withPermit(2n * PREMIUM))).toMatchObject({ outcome: "created" });
});
