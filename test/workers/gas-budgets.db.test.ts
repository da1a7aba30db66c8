import { describe, expect, test } from "vitest";
import { assignNonces, type WantedGroup } from "../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates, reserveRaises } from "../../workers/ledger/gas-spending.ts";
import { markLost, settle } from "../../workers/ledger/outcomes.ts";
import { openTransactions, storeForms } from "../../workers/ledger/transactions.ts";
import { SIGN_WITHIN_SECONDS } from "../../workers/ledger/waiting.ts";
import { choosePurchases } from "../../workers/relayer/choose-purchases.ts";
import { chooseRaises } from "../../workers/relayer/recovery/raise-fees.ts";
import {
  accepted,
  bought,
  call,
  chainId,
  connection,
  drop,
  form,
  newLease,
  other,
  relayer,
  request,
  sign,
  signer,
  useLedgerDatabase,
  wallet,
  wantedPurchase,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** The fixture signs each call at 30 wei per gas. */
const cost = call.gasLimit * 30n;
const balance = 10n ** 30n;

test("a client that is over its own budget does not hold back the other purchases of a round", async () => {
  const lease = await newLease();
  const within = await accepted();
  const over = await accepted({ wallet: other, request: { ...request, buyer: other } });
  // Raised fees are not held back by a client's budget.
  await connection.sql`
    insert into service.gas_day (chain_id, day, wallet, sender, wei)
    values (${chainId}, (now() at time zone 'utc')::date, ${other}, ${relayer}, ${String(3n * cost)})`;
  const groups: WantedGroup[] = [within, over].map(wantedPurchase);
  const wanted = new Map(groups.map((group) => [group.id, group]));
  const budgets = { gasBudget: 10n * cost, gasBudgetPerWallet: 2n * cost };
  const { choice, assigned } = await assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, [within, over], SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates, spending) => choosePurchases(candidates, wanted, spending, { ...budgets, balance }),
  });
  expect(assigned).toMatchObject([{ id: within, nonce: 0 }]);
  expect(choice.refuse).toMatchObject([{ id: over, failure: { code: "gas_budget_exceeded" } }]);
});

test("an empty transfer is raised beyond the day's budget, together with a call that fits into it", async () => {
  const lease = await newLease();
  await sign(lease, [await accepted(), await accepted()]);
  const open = await openTransactions(connection.sql, chainId, relayer, 10);
  const wanted = open.map(({ id }, n) => ({ id, cost: 2n * cost, reserved: cost, isEmpty: n === 1 }));
  const gasBudget = 3n * cost;
  const raised = await reserveRaises(connection.sql, lease, (spending) =>
    chooseRaises(wanted, spending, { balance, gasBudget }),
  );
  expect(raised).toEqual(wanted);
});

describe("a transaction that is open over midnight", () => {
  const today = () => new Date().toISOString().slice(0, 10);
  const yesterday = () => new Date(Date.now() - 24 * 3600_000).toISOString().slice(0, 10);

  /** A purchase that was signed a day ago. @returns its transaction and its form. */
  async function signedYesterday() {
    const lease = await newLease();
    const [signed] = await sign(lease, [await accepted()]);
    if (!signed) throw new Error("nothing was signed");
    const { sql } = connection;
    await sql`update service.transaction set created_at = created_at - interval '1 day'`;
    await sql`update service.gas_day set day = day - 1`;
    return { lease, id: signed.transactionId, hash: signed.signed.hash };
  }
  /** The gas by day: the service's, which must be the client's too. */
  async function days(): Promise<Record<string, bigint>> {
    const rows = await connection.sql<{ day: string; wallet: string; wei: string }[]>`
      select day::text, wallet, wei from service.gas_day where wei <> 0 order by day`;
    const of = (owner: string) =>
      Object.fromEntries(
        rows.filter((row) => row.wallet === owner).map(({ day, wei }) => [day, BigInt(wei)]),
      );
    expect(of(wallet)).toEqual(of(""));
    return of("");
  }

  test("is raised as far as the present day's budget reaches", async () => {
    const { lease, id } = await signedYesterday();
    const gasBudget = cost;
    const raiseTo = async (times: bigint) => {
      const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
      const wanted = [{ id, cost: times * cost, reserved: open?.reserved ?? 0n, isEmpty: false }];
      return reserveRaises(connection.sql, lease, (spending) =>
        chooseRaises(wanted, spending, { balance, gasBudget }),
      );
    };
    expect(await raiseTo(2n)).toHaveLength(1);
    expect(await raiseTo(3n)).toEqual([]);
    expect(await days()).toEqual({ [yesterday()]: cost, [today()]: cost });
  });

  test("gives back what it did not cost where it was counted, the newest day first", async () => {
    const { lease, id, hash } = await signedYesterday();
    const costlier = form(id, { ...(await signer(0, call)), maxFee: 90n });
    await storeForms(connection.sql, lease, [costlier]);
    expect(await days()).toEqual({ [yesterday()]: cost, [today()]: 2n * cost });
    await settle(connection.sql, [{ ...bought(hash, 7), gasCost: cost + 5n }]);
    expect(await days()).toEqual({ [yesterday()]: cost, [today()]: 5n });
    // A reorganisation: the whole reservation counts again.
    await drop(7);
    expect(await days()).toEqual({ [yesterday()]: cost, [today()]: 2n * cost });
    await settle(connection.sql, [{ ...bought(hash, 8), gasCost: 100n }]);
    expect(await days()).toEqual({ [yesterday()]: 100n });
    await drop(8);
    expect(await days()).toEqual({ [yesterday()]: 100n, [today()]: 3n * cost - 100n });
    await markLost(connection.sql, id, word(99));
    expect(await days()).toEqual({});
  });

  test("over two midnights counts on each day what that day reserved", async () => {
    const { lease, id, hash } = await signedYesterday();
    await storeForms(connection.sql, lease, [form(id, { ...(await signer(0, call)), maxFee: 60n })]);
    const { sql } = connection;
    await sql`update service.transaction set created_at = created_at - interval '1 day',
      gas_later = jsonb_build_object(${yesterday()}::text, gas_later -> ${today()}::text)`;
    await sql`update service.gas_day set day = day - 1`;
    await storeForms(connection.sql, lease, [form(id, { ...(await signer(0, call)), maxFee: 90n })]);
    const first = new Date(Date.now() - 48 * 3600_000).toISOString().slice(0, 10);
    expect(await days()).toEqual({ [first]: cost, [yesterday()]: cost, [today()]: cost });
    await settle(sql, [{ ...bought(hash, 7), gasCost: cost + 5n }]);
    expect(await days()).toEqual({ [first]: cost, [yesterday()]: 5n });
  });
});
