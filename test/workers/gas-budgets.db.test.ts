/** The gas budgets of a day, where one of them is exceeded already or may be exceeded. */
import type { Address } from "viem";
import { expect, test } from "vitest";
import { assignNonces, type WantedGroup } from "../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates } from "../../workers/ledger/gas-spending.ts";
import { openTransactions } from "../../workers/ledger/open-transactions.ts";
import { reserveRaises } from "../../workers/ledger/raises.ts";
import { SIGN_WITHIN_SECONDS } from "../../workers/ledger/waiting.ts";
import { choosePurchases } from "../../workers/relayer/choose-purchases.ts";
import { chooseRaises } from "../../workers/relayer/recovery/choose-raises.ts";
import {
  accepted,
  call,
  chainId,
  connection,
  newLease,
  relayer,
  request,
  sign,
  useLedgerDatabase,
  wantedPurchase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

/** The fixture signs each call at 30 wei per gas. */
const cost = call.gasLimit * 30n;
const balance = 10n ** 30n;

test("a client that is over its own budget does not hold back the other purchases of a round", async () => {
  const lease = await newLease();
  const other: Address = "0x00000000000000000000000000000000000000dd";
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
    given: new Map(),
    wanted: groups,
    candidates: (tx) => readCandidates(tx, lease, [within, over], SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates, spending) => choosePurchases(candidates, wanted, spending, { ...budgets, balance }),
    ...budgets,
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
  const raised = await reserveRaises(connection.sql, lease, gasBudget, wanted, (spending) =>
    chooseRaises(wanted, spending, { balance, gasBudget }),
  );
  expect(raised).toEqual(wanted);
});
