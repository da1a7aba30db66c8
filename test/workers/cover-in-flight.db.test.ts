/** The coverage that counts against the vault's capacity at a block: never too little of it. */
import { beforeEach, describe, expect, test } from "vitest";
import { assignNonces, coverInFlight } from "../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates } from "../../workers/ledger/gas-spending.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import {
  accepted,
  bought,
  chainId,
  confirm,
  connection,
  drop,
  newLease,
  request,
  sign,
  useLedgerDatabase,
  wantedPurchase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

let lease: Lease;
beforeEach(async () => {
  lease = await newLease();
});

const COVERAGE = request.coverageAmount;
const inFlightAt = (block: number, apartFrom: string[] = []) =>
  connection.sql.begin((tx) => coverInFlight(tx, chainId, BigInt(block), apartFrom));
const raiseWatermarks = () => connection.sql`select service.raise_watermarks(${chainId}, 0)`;

async function signedPurchases(count: number) {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await accepted());
  return sign(lease, ids);
}

describe("cover in flight", () => {
  test("is that of open purchases, apart from some, and not of those that wait", async () => {
    const [first] = await signedPurchases(2);
    await accepted();
    expect(await inFlightAt(5)).toBe(2n * COVERAGE);
    expect(await inFlightAt(5, [String(first?.id)])).toBe(COVERAGE);
  });

  test("has purchases in blocks after the one asked for, also final ones, and none up to it", async () => {
    const hashes = (await signedPurchases(3)).map(({ signed }) => signed.hash);
    await settle(connection.sql, [bought(hashes[0], 6), bought(hashes[1], 7, 2n), bought(hashes[2], 8, 3n)]);
    await confirm(6, 7, 8);
    await raiseWatermarks();
    const counts = await Promise.all([5, 6, 7, 8].map((block) => inFlightAt(block)));
    expect(counts).toEqual([3n * COVERAGE, 2n * COVERAGE, COVERAGE, 0n]);
  });

  test("has no purchase that has been open for more than 30 minutes, unless it is in a block by now", async () => {
    const [late, mined] = await signedPurchases(3);
    const ids = [late, mined].map((one) => String(one?.transactionId));
    const openFor = (minutes: number) => connection.sql`
      update service.transaction set opened_at = now() - make_interval(mins => ${minutes}) where id = any(${ids}::text[]::bigint[])`;
    await openFor(29);
    expect(await inFlightAt(5)).toBe(3n * COVERAGE);
    await openFor(31);
    expect(await inFlightAt(5)).toBe(COVERAGE);
    await settle(connection.sql, [bought(mined?.signed.hash, 6)]);
    expect(await inFlightAt(5)).toBe(2n * COVERAGE);
  });

  test("has a purchase again once its block is dropped", async () => {
    const [one] = await signedPurchases(1);
    await settle(connection.sql, [bought(one?.signed.hash, 6)]);
    await raiseWatermarks();
    expect(await inFlightAt(6)).toBe(0n);
    await drop(6);
    expect(await inFlightAt(6)).toBe(COVERAGE);
  });
});

test("a round that does not pass its last check leaves no nonce, and its purchases wait", async () => {
  const [one, other] = [await accepted(), await accepted()];
  const assigned = assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, [other, one], 60),
    clients: () => [],
    choose: (candidates: readonly Candidate[]) => ({
      send: candidates.flatMap(({ id }) => wantedPurchase(id).calls),
    }),
    // The calls are sent in the order that was asked for, and the check sees them among those in flight.
    verify: async (tx, { send }) => {
      expect(send.map(({ id }) => id)).toEqual([other, one]);
      expect(await coverInFlight(tx, chainId, 0n, [])).toBe(2n * COVERAGE);
      throw new Error("no room");
    },
  });
  await expect(assigned).rejects.toThrow("no room");
  expect(await inFlightAt(0)).toBe(0n);
  const rows = await connection.sql`
    select next_nonce::int as next, (select count(*)::int from service.waiting) as waiting from service.relayer_wallet`;
  expect(rows).toEqual([{ next: 0, waiting: 2 }]);
});
