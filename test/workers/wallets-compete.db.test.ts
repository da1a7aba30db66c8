/**
 * Rounds of wallets that spend from one budget, and from the vault's capacity, at the same time. What this proves: they follow each
 * other, together they reserve no more than there is, and a round that does not end holds nobody up for long.
 */
import type { TransactionSql } from "postgres";
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { assignNonces, coverInFlight } from "../../workers/ledger/assign-nonces.ts";
import {
  type Candidate,
  gasSpentToday,
  readCandidates,
  reserveRaises,
} from "../../workers/ledger/gas-spending.ts";
import { type Lease, renewLease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { openTransactions } from "../../workers/ledger/transactions.ts";
import { SIGN_WITHIN_SECONDS } from "../../workers/ledger/waiting.ts";
import { choosePurchases } from "../../workers/relayer/choose-purchases.ts";
import { chooseRaises } from "../../workers/relayer/recovery/raise-fees.ts";
import { waitForLockWaiter } from "../support/database.ts";
import {
  accepted,
  call,
  chainId,
  connection,
  newLease,
  request,
  router,
  sign,
  useLedgerDatabase,
  wantedPurchase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** Of one purchase. */
const cost = call.gasLimit * 30n;
const coverage = request.coverageAmount;
const plenty = 10n ** 30n;

let one: Lease;
let other: Lease;
async function leaseOf(address: Address, role: WalletRole = "relayer"): Promise<Lease> {
  const lease = await takeLease(connection.sql, { chainId, address, role, owner: "me" });
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

/** Gives new purchases of one client the next nonces of the lease's wallet, within the budgets. @returns how many. */
async function buy(lease: Lease, count: number, { verify, ...limits }: Round = {}) {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await accepted());
  const groups = new Map(ids.map((id) => [id, wantedPurchase(id)]));
  const budgets = { balance: plenty, gasBudget: plenty, gasBudgetPerWallet: plenty, ...limits };
  const { assigned } = await assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, ids, SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates, spending) => choosePurchases(candidates, groups, spending, budgets),
    ...(verify && { verify }),
  });
  return assigned.length;
}

const spent = () => gasSpentToday(connection.sql, chainId);

/** Begins `work` while a round of the first wallet has stored its nonces, and commits that round once `work` waits for it. */
async function beside<Result>(round: Round, work: () => Promise<Result>): Promise<Result> {
  let working: Promise<Result> | undefined;
  const first = await buy(one, 1, {
    ...round,
    verify: async () => {
      working = work();
      await waitForLockWaiter(connection.sql, "transactionid");
    },
  });
  expect(first).toBe(1);
  if (!working) throw new Error("the round has not run");
  return working;
}

describe("a budget", () => {
  test.each<[string, Round]>([
    ["of the day", { gasBudget: cost }],
    ["of a client", { gasBudgetPerWallet: cost }],
  ])(
    "%s that covers one: the other wallet's round waits for the first, and reserves nothing",
    async (_, budget) => {
      expect(await beside(budget, () => buy(other, 1, budget))).toBe(0);
      expect(await spent()).toBe(cost);
    },
  );

  test("that covers both rounds is given to both", async () => {
    const budget = { gasBudget: 2n * cost };
    expect(await beside(budget, () => buy(other, 1, budget))).toBe(1);
    expect(await spent()).toBe(2n * cost);
  });

  test("is left to others by a round that fails", async () => {
    const failing = buy(one, 1, { verify: () => Promise.reject(new Error("the process ends")) });
    await expect(failing).rejects.toThrow("the process ends");
    expect(await buy(other, 1, { gasBudget: cost })).toBe(1);
  });

  test("is kept by raises beside purchases", async () => {
    await sign(other, [await accepted()]);
    const [open] = await openTransactions(connection.sql, chainId, router, 1);
    const raises = [{ id: open?.id ?? 0, cost: 2n * cost, reserved: cost, isEmpty: false }];
    const limits = { balance: plenty, gasBudget: 2n * cost };
    const raise = () =>
      reserveRaises(connection.sql, other, (spending) => chooseRaises(raises, spending, limits));
    expect(await beside(limits, raise)).toEqual([]);
    expect(await spent()).toBe(2n * cost);
  });

  test("for seven is used up, and never exceeded, by four wallets with five purchases each", async () => {
    const addresses: Address[] = [
      "0x00000000000000000000000000000000000000c1",
      "0x00000000000000000000000000000000000000c2",
    ];
    const leases = [one, other, ...(await Promise.all(addresses.map((address) => leaseOf(address))))];
    const bought = await Promise.all(
      leases.map(async (lease) => {
        let count = 0;
        for (let n = 0; n < 5; n += 1) count += await buy(lease, 1, { gasBudget: 7n * cost });
        return count;
      }),
    );
    expect(bought.reduce((sum, count) => sum + count, 0)).toBe(7);
    expect(await spent()).toBe(7n * cost);
  });

  test("of the keeper is another one: its rounds do not wait for purchases", async () => {
    const keeper = await leaseOf("0x00000000000000000000000000000000000000c3", "keeper");
    await buy(one, 1, {
      verify: async () => {
        await reserveRaises(connection.sql, keeper, () => []);
      },
    });
  });
});

test("of two rounds at the same time the second sees the first one's cover", async () => {
  const seen: bigint[] = [];
  const look = async (tx: TransactionSql) => {
    seen.push(await coverInFlight(tx, chainId, 0n, []));
  };
  await beside({}, () => buy(other, 1, { verify: look }));
  expect(seen).toEqual([2n * coverage]);
});

test("a round that does not end holds another wallet's round up for two seconds, and loses its lock after five", async () => {
  const { ended } = await new Promise<{ ended: Promise<unknown> }>((resolve) => {
    // As in a suspended process: it asks for nothing more, and the server ends its session.
    const ended = buy(one, 1, { verify: () => new Promise<void>(() => resolve({ ended })) });
  });
  await expect(buy(other, 1)).rejects.toMatchObject({ code: "55P03" });
  await expect(ended).rejects.toThrow();
  await renewLease(connection.sql, other); // as its writer does meanwhile
  expect(await buy(other, 1)).toBe(1);
  expect(await spent()).toBe(cost);
});
