/**
 * Rounds of two wallets that spend from one budget, and from the vault's capacity, at the same time. What this proves: neither
 * waits for the other's transaction, and together they reserve no more than there is.
 */
import type { TransactionSql } from "postgres";
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { assignNonces } from "../../workers/ledger/assign-nonces.ts";
import { coverInFlight } from "../../workers/ledger/cover-in-flight.ts";
import { type Candidate, gasSpentToday, readCandidates } from "../../workers/ledger/gas-spending.ts";
import { type Lease, releaseLease, renewLease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { openTransactions } from "../../workers/ledger/open-transactions.ts";
import { reserveRaises } from "../../workers/ledger/raises.ts";
import { endPlan, planRound, RoundsCompete } from "../../workers/ledger/round-plans.ts";
import { SIGN_WITHIN_SECONDS } from "../../workers/ledger/waiting.ts";
import { mayRest } from "../support/database.ts";
import {
  accepted,
  call,
  chainId,
  connection,
  newLease,
  relayer,
  request,
  router,
  sign,
  useLedgerDatabase,
  wallet,
  wantedPurchase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** Of one purchase. */
const cost = call.gasLimit * 30n;
const coverage = request.coverageAmount;
const plenty = 10n ** 30n;

let one: Lease;
let other: Lease;
async function leaseOf(address: Address): Promise<Lease> {
  const lease = await takeLease(connection.sql, { chainId, address, owner: "me" });
  if (!lease) throw new Error("no lease");
  await startNonces(connection.sql, lease, 0);
  return lease;
}
beforeEach(async () => {
  one = await newLease();
  other = await leaseOf(router);
});

type Round = {
  gasBudget?: bigint;
  gasBudgetPerWallet?: bigint;
  /** Runs once the nonces are stored, in the round's transaction. */
  verify?: (tx: TransactionSql) => Promise<void>;
};

/** Gives new purchases of one client the next nonces of the lease's wallet. @returns how many. */
async function buy(lease: Lease, count: number, { gasBudget = plenty, ...round }: Round = {}) {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await accepted());
  const { assigned } = await assignNonces(connection.sql, {
    lease,
    given: new Map(),
    wanted: ids.map(wantedPurchase),
    candidates: (tx) => readCandidates(tx, lease, ids, SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates) => ({ send: candidates.flatMap(({ id }) => wantedPurchase(id).calls) }),
    gasBudget,
    ...round,
  });
  return assigned.length;
}

/** Runs `work` while a round of the first wallet has stored its nonces and not committed them. */
const duringRound = (work: (tx: TransactionSql) => Promise<void>, round: Round = {}) =>
  buy(one, 1, {
    ...round,
    verify: async (tx) => {
      await mayRest(tx);
      await work(tx);
    },
  });
const spent = () => gasSpentToday(connection.sql, chainId);
const plans = async () => (await connection.sql`select 1 from service.round_plan`).length;

describe("a budget", () => {
  test("that covers both rounds: one commits while the other is under way", async () => {
    await duringRound(async () => {
      expect(await buy(other, 1, { gasBudget: 2n * cost })).toBe(1);
      expect(await spent()).toBe(cost);
    });
    expect(await spent()).toBe(2n * cost);
    expect(await plans()).toBe(0);
  });

  test.each<[string, Round]>([
    ["of the day", { gasBudget: cost }],
    ["of a client", { gasBudgetPerWallet: cost }],
  ])(
    "%s that covers one: the other round reserves nothing while the first may still take it",
    async (_, budget) => {
      const first = await duringRound(async () => {
        await expect(buy(other, 1, budget)).rejects.toThrow(RoundsCompete);
      }, budget);
      expect(first).toBe(1);
      expect(await spent()).toBe(cost);
      expect(await plans()).toBe(0);
    },
  );

  test("is left to others by a round that fails", async () => {
    const failing = duringRound(() => Promise.reject(new Error("the process ends")));
    await expect(failing).rejects.toThrow("the process ends");
    expect(await plans()).toBe(0);
    expect(await buy(other, 1, { gasBudget: cost })).toBe(1);
  });

  test("is kept by raises beside purchases", async () => {
    await sign(one, [await accepted()]);
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    const raises = [{ id: open?.id ?? 0, cost: 2n * cost, reserved: cost, isEmpty: false }];
    const raise = () => reserveRaises(connection.sql, one, 2n * cost, raises, () => raises);
    const buying = buy(other, 1, {
      gasBudget: 2n * cost,
      verify: async (tx) => {
        await mayRest(tx);
        await expect(raise()).rejects.toThrow(RoundsCompete);
      },
    });
    expect(await buying).toBe(1);
    expect(await spent()).toBe(2n * cost);
  });

  test("for seven is never exceeded by four wallets with five purchases each", async () => {
    const addresses: Address[] = [
      "0x00000000000000000000000000000000000000c1",
      "0x00000000000000000000000000000000000000c2",
    ];
    const leases = [one, other, ...(await Promise.all(addresses.map(leaseOf)))];
    const budget = { gasBudget: 7n * cost };
    const outcomes = await Promise.allSettled(
      leases.map(async (lease) => {
        for (let n = 0; n < 5; n += 1) await buy(lease, 1, budget);
      }),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(2); // one wallet at most gets all of its five
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: expect.any(RoundsCompete) });
    expect(await spent()).toBeLessThanOrEqual(7n * cost);
    // Whatever competition has left is there for a wallet that is alone.
    const left = Number(7n - (await spent()) / cost);
    expect(await buy(one, left, budget)).toBe(left);
    await expect(buy(one, 1, budget)).rejects.toThrow(RoundsCompete);
  });
});

test("of two rounds one at least sees the other's cover, as planned or in flight", async () => {
  const seen: Record<string, bigint>[] = [];
  const look = async (tx: TransactionSql, lease: Lease) => {
    seen.push(await coverInFlight(tx, lease, 0n, []));
  };
  await duringRound(async (tx) => {
    await look(tx, one);
    await buy(other, 1, { verify: (inner) => look(inner, other) });
    await look(tx, one);
  });
  expect(seen).toEqual([
    { inFlight: coverage, planned: 0n },
    { inFlight: coverage, planned: coverage },
    { inFlight: 2n * coverage, planned: 0n },
  ]);
});

describe("a plan", () => {
  const plan = async () => planRound(connection.sql, other, [{ purchaseId: await accepted(), cost }]);
  const age = (seconds: number) =>
    connection.sql`update service.round_plan set planned_at = now() - make_interval(secs => ${seconds})`;

  test("that is gone lets its round reserve nothing", async () => {
    const slow = duringRound(async () => {
      await connection.sql`delete from service.round_plan`;
    });
    await expect(slow).rejects.toThrow("took too long");
    expect(await spent()).toBe(0n);
    expect(await connection.sql`select 1 from service.transaction`).toHaveLength(0);
  });

  test("of a process that died counts until its wallet's lease is renewed", async () => {
    await plan();
    await expect(buy(one, 1, { gasBudget: cost })).rejects.toThrow(RoundsCompete);
    await renewLease(connection.sql, other);
    expect(await plans()).toBe(1);
    await age(21);
    await renewLease(connection.sql, one);
    expect(await plans()).toBe(1);
    await renewLease(connection.sql, other);
    expect(await plans()).toBe(0);
    expect(await buy(one, 1, { gasBudget: cost })).toBe(1);
  });

  test("of a process that died ends when another writer takes its wallet", async () => {
    await plan();
    await releaseLease(connection.sql, other);
    expect(await plans()).toBe(1);
    await takeLease(connection.sql, { ...other, owner: "another" });
    expect(await plans()).toBe(0);
    expect(await buy(one, 1, { gasBudget: cost })).toBe(1);
  });

  test("of a wallet that no writer has any more counts for five minutes", async () => {
    await plan();
    await age(4 * 60);
    await expect(buy(one, 1, { gasBudget: cost })).rejects.toThrow(RoundsCompete);
    await age(6 * 60);
    expect(await buy(one, 1, { gasBudget: cost })).toBe(1);
  });

  test("has the gas of each client, and ends once", async () => {
    const client: Address = "0x00000000000000000000000000000000000000dd";
    const ids = [
      await accepted(),
      await accepted(),
      await accepted({ wallet: client, request: { ...request, buyer: client } }),
    ];
    const id = await planRound(connection.sql, one, [
      ...ids.map((purchaseId) => ({ purchaseId, cost })),
      { purchaseId: null, cost: 5n },
    ]);
    const [row] = await connection.sql`select gas, client_gas, coverage from service.round_plan`;
    expect(row).toEqual({
      gas: String(3n * cost + 5n),
      client_gas: { [wallet]: Number(2n * cost), [client]: Number(cost) },
      coverage: String(3n * coverage),
    });
    expect([await endPlan(connection.sql, id), await endPlan(connection.sql, id)]).toEqual([true, false]);
  });
});
