/** The transactions of permits: before their purchases, one each, and found again after lost commits. */
import { describe, expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { removeUnsigned } from "../../workers/ledger/assign-nonces.ts";
import type { Lease } from "../../workers/ledger/leases.ts";
import { markLost, settle } from "../../workers/ledger/outcomes.ts";
import { storeForms } from "../../workers/ledger/transactions.ts";
import {
  endUnknown,
  noteUnknown,
  recordUnknown,
  unsentPermits,
  waitingPurchases,
} from "../../workers/ledger/unknown-transactions.ts";
import {
  accepted,
  bought,
  call,
  chainId,
  connection,
  drop,
  form,
  newLease,
  relayer,
  request,
  router,
  sign,
  signer,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";
import {
  acceptedWithPermit,
  assignWith,
  COST,
  minePermit,
  permitCallOf,
  signWith,
  transactions,
  waitingPermit,
} from "./support/permits.ts";

useLedgerDatabase();

describe("a permit's transaction", () => {
  test("has the nonce before its purchase, and the purchase no longer waits", async () => {
    const lease = await newLease(3);
    const ids = await acceptedWithPermit();
    expect(await signWith(lease, ids, "both")).toMatchObject([
      { kind: "permit", id: ids.permit, nonce: 3 },
      { kind: "purchase", id: ids.purchase, nonce: 4 },
    ]);
    expect(await waitingPermit(ids)).toBeUndefined();
    expect(await sign(lease, [await accepted()])).toMatchObject([{ nonce: 5 }]);
  });

  test("alone leaves its purchase waiting, which is signed for the next nonce once the permit is mined", async () => {
    const lease = await newLease(3);
    const ids = await acceptedWithPermit();
    expect(await waitingPermit(ids)).toBe("unsent");
    const [sent] = await signWith(lease, ids, "permit");
    expect(await waitingPermit(ids)).toBe("open");
    expect(await readPurchase(connection.sql, ids.purchase)).toMatchObject({ state: "accepted" });
    await minePermit(sent?.hash, 7);
    expect(await waitingPermit(ids)).toBe("mined");
    await drop(7);
    expect(await waitingPermit(ids)).toBe("open");
    await minePermit(sent?.hash, 8);
    expect(await signWith(lease, ids, "purchase")).toMatchObject([{ kind: "purchase", nonce: 4 }]);
    expect(await transactions()).toMatchObject([
      { kind: "permit", nonce: "3", state: "mined" },
      { kind: "purchase", nonce: "4", state: "open" },
    ]);
  });

  test("is the only one: a round that read the permit before another sent it sends nothing", async () => {
    const lease = await newLease();
    const ids = await acceptedWithPermit();
    await signWith(lease, ids, "permit");
    for (const wanted of ["permit", "both"] as const) {
      const { choice, assigned } = await assignWith(lease, ids, wanted);
      expect([choice.wait, assigned]).toEqual([[ids.purchase], []]);
    }
    expect(await transactions()).toHaveLength(1);
  });

  test("is the only one even for a round that sees no other: the database refuses it, and no nonce is used", async () => {
    const lease = await newLease();
    const ids = await acceptedWithPermit();
    await signWith(lease, ids, "permit");
    const again = assignWith(lease, ids, "both", (calls) => () => ({
      ...{ send: calls, refuse: [], wait: [], walletFault: undefined },
    }));
    await expect(again).rejects.toThrow("transaction_intent");
    expect(await transactions()).toHaveLength(1);
    expect(await waitingPermit(ids)).toBe("open");
    expect(await sign(lease, [await accepted()])).toMatchObject([{ nonce: 1 }]);
  });
});

describe("a permit is sent again with its purchase", () => {
  test("after another program's transaction has taken the nonces of both", async () => {
    const lease = await newLease();
    const ids = await acceptedWithPermit();
    const sent = await signWith(lease, ids, "both");
    for (const { transactionId, nonce } of sent) {
      await markLost(connection.sql, transactionId, word(90 + nonce));
    }
    expect(await waitingPermit(ids)).toBe("unsent");
    await signWith(lease, ids, "both");
    expect(await transactions()).toMatchObject([
      { kind: "permit", state: "lost" },
      { kind: "purchase", state: "lost" },
      { kind: "permit", intent: ids.permit, nonce: "2", state: "open" },
      { kind: "purchase", intent: ids.purchase, nonce: "3", state: "open" },
    ]);
  });

  test("after another program's transaction has taken the nonce of a permit alone", async () => {
    const lease = await newLease();
    const ids = await acceptedWithPermit();
    const [sent] = await signWith(lease, ids, "permit");
    await markLost(connection.sql, sent?.transactionId ?? 0, word(9));
    expect(await waitingPermit(ids)).toBe("unsent");
    expect(await signWith(lease, ids, "both")).toMatchObject([{ nonce: 1 }, { nonce: 2 }]);
  });

  test("after the operator gives up a wallet that never signed them", async () => {
    const lease = await newLease();
    const ids = await acceptedWithPermit();
    await assignWith(lease, ids, "both");
    expect(await removeUnsigned(connection.sql, lease, 0)).toEqual([0, 1]);
    expect(await transactions()).toEqual([]);
    expect(await waitingPermit(ids)).toBe("unsent");
  });
});

describe("after lost commits, a permit on the chain", () => {
  const record = async (lease: Lease, nonce: number, intent: string | undefined, of = call) =>
    recordUnknown(connection.sql, lease, {
      ...{ nonce, intent: intent ?? null, call: of, cost: COST },
      signed: await signer(nonce, of),
    });
  const found = async (owner = wallet) =>
    (await unsentPermits(connection.sql, chainId, owner)).map(({ id }) => id);

  test("is recorded as its purchase's, which goes on waiting and is recorded too", async () => {
    const lease = await newLease(3);
    const other = await accepted();
    const ids = await acceptedWithPermit({ request: { ...request, coverageAmount: 200_000_000n } });
    await noteUnknown(connection.sql, chainId, relayer, 5);
    expect(await found()).toEqual([ids.permit]);
    expect(await record(lease, 3, ids.permit, permitCallOf())).toBe(true);
    expect(await waitingPermit(ids)).toBe("open");
    expect(await found()).toEqual([]);
    const [purchase] = await waitingPurchases(connection.sql, chainId, {
      ...{ ...request, coverageAmount: 200_000_000n },
    });
    expect(purchase?.id).toBe(ids.purchase);
    expect(await record(lease, 4, ids.purchase)).toBe(true);
    expect(await endUnknown(connection.sql, lease)).toBe(true);
    expect(await transactions()).toMatchObject([
      { kind: "permit", intent: ids.permit, nonce: "3", state: "open" },
      { kind: "purchase", intent: ids.purchase, nonce: "4", state: "open" },
    ]);
    expect(await sign(lease, [other])).toMatchObject([{ nonce: 5 }]);
  });

  test("is not recorded twice, and the purchase's own transaction is never taken for the permit's", async () => {
    const lease = await newLease(3);
    const ids = await acceptedWithPermit();
    await noteUnknown(connection.sql, chainId, relayer, 5);
    expect(await record(lease, 3, ids.permit, permitCallOf())).toBe(true);
    await expect(record(lease, 4, ids.permit, permitCallOf())).rejects.toThrow("transaction_intent");
    expect(await endUnknown(connection.sql, lease)).toBe(false);
    expect(await waitingPermit(ids)).toBe("open");
  });

  test("belongs to no purchase that does not wait, and to no other owner's", async () => {
    const lease = await newLease(3);
    await sign(lease, [(await acceptedWithPermit()).purchase]);
    expect(await found()).toEqual([]);
    const ids = await acceptedWithPermit({ request: { ...request, coverageAmount: 200_000_000n } });
    expect(await found()).toEqual([ids.permit]);
    expect(await found(router)).toEqual([]);
  });
});

test("a permit's gas counts for the day of its purchase's client: its reservation, then its cost", async () => {
  const spent = () => connection.sql<{ wallet: string; wei: string }[]>`
    select wallet, wei from service.gas_day order by wallet`;
  const lease = await newLease();
  const ids = await acceptedWithPermit();
  const [first, purchase] = await signWith(lease, ids, "both");
  const both = (wei: bigint) => ["", wallet].map((one) => ({ wallet: one, wei: String(wei) }));
  expect(await spent()).toEqual(both(2n * COST));
  await minePermit(first?.hash, 7);
  expect(await spent()).toEqual(both(100n + COST));
  await settle(connection.sql, [bought(purchase?.hash, 7)]);
  expect(await spent()).toEqual(both(200n));
  const costlier = { ...(await signer(0, call)), maxFee: 60n };
  await drop(7);
  await storeForms(connection.sql, lease, [form(first?.transactionId ?? 0, costlier)]);
  expect(await spent()).toEqual(both(3n * COST));
});
