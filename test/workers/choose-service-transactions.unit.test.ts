/** Which service transactions of a round are signed: whole groups, within the balance and the budget, without I/O. */
import { expect, test } from "vitest";
import type { WantedGroup } from "../../workers/ledger/assign-nonces.ts";
import type { Spending } from "../../workers/ledger/gas-spending.ts";
import { type Choice, chooseServiceTransactions } from "../../workers/service-transactions/choose.ts";

const nothing: Spending = { all: 0n, ofCode: 0n, byWallet: new Map(), reserved: 0n, relayerStopped: false };
const limits = { balance: 1000n, gasBudget: 1000n };

/** Two calls, the gas of each at most 20 wei; the first call sends `value`. */
const group = (id: string, value = 100n): WantedGroup => ({
  id,
  calls: [value, 0n].map((given, n) => ({
    kind: "service_transaction",
    id: `${id}${n}`,
    call: { to: `0x${"a".repeat(40)}`, data: "0x", value: given, gasLimit: 10n },
    cost: 20n,
  })),
});
const ids = ({ send }: Choice) => send.map(({ id }) => id);
const callsOf = (...groups: string[]) => groups.flatMap((id) => [`${id}0`, `${id}1`]);

test("the balance pays for whole groups, beside the pending transactions", () => {
  const round = [group("a"), group("b"), group("c")];
  expect(ids(chooseServiceTransactions(round, nothing, { ...limits, balance: 280n }))).toEqual(
    callsOf("a", "b"),
  );
  expect(ids(chooseServiceTransactions(round, nothing, { ...limits, balance: 279n }))).toEqual(callsOf("a"));
  expect(
    ids(chooseServiceTransactions(round, { ...nothing, reserved: 1n }, { ...limits, balance: 280n })),
  ).toEqual(callsOf("a"));
  expect(chooseServiceTransactions(round, nothing, { ...limits, balance: 139n })).toEqual({
    send: [],
    overBudget: new Set(),
  });
});

test("a group that costs too much does not block the next one", () => {
  expect(
    ids(chooseServiceTransactions([group("a", 900n), group("b")], nothing, { ...limits, balance: 500n })),
  ).toEqual(callsOf("b"));
});

test("the day's budget counts gas only, with that of other wallets", () => {
  const round = [group("a", 900n), group("b", 0n)];
  expect(ids(chooseServiceTransactions(round, nothing, { ...limits, gasBudget: 40n }))).toEqual(callsOf("a"));
  const late = chooseServiceTransactions(round, { ...nothing, all: 1n }, { ...limits, gasBudget: 40n });
  expect(late).toEqual({ send: [], overBudget: new Set(["a", "b"]) });
});

test("a wallet that the operator has stopped signs nothing", () => {
  expect(chooseServiceTransactions([group("a")], { ...nothing, relayerStopped: true }, limits)).toEqual({
    send: [],
    overBudget: new Set(),
  });
});
