/** Which errands of a round are signed: whole groups, within the balance and the budget, without I/O. */
import { expect, test } from "vitest";
import { type Choice, chooseErrands } from "../../workers/errands/choose.ts";
import type { WantedGroup } from "../../workers/ledger/errands.ts";
import type { Spending } from "../../workers/ledger/spending.ts";

const nothing: Spending = { all: 0n, byWallet: new Map(), reserved: 0n, relayerStopped: false };
const limits = { balance: 1000n, maxFee: 2n, gasBudget: 1000n };

/** Two calls of ten gas each, the first of which gives `value` away: 40 wei of gas. */
const group = (id: string, value = 100n): WantedGroup => ({
  id,
  calls: [value, 0n].map((given, n) => ({
    id: `${id}${n}`,
    call: { to: `0x${"a".repeat(40)}`, data: "0x", value: given, gasLimit: 10n },
  })),
});
const ids = ({ sign }: Choice) => sign.map(({ id }) => id);

test("a balance pays for whole groups, with what is on its way already", () => {
  const round = [group("a"), group("b"), group("c")];
  expect(ids(chooseErrands(round, nothing, { ...limits, balance: 280n }))).toEqual(["a", "b"]);
  expect(ids(chooseErrands(round, nothing, { ...limits, balance: 279n }))).toEqual(["a"]);
  expect(ids(chooseErrands(round, { ...nothing, reserved: 1n }, { ...limits, balance: 280n }))).toEqual([
    "a",
  ]);
  expect(chooseErrands(round, nothing, { ...limits, balance: 139n })).toEqual({ sign: [], overBudget: [] });
});

test("one that costs too much lets the next one through", () => {
  expect(ids(chooseErrands([group("a", 900n), group("b")], nothing, { ...limits, balance: 500n }))).toEqual([
    "b",
  ]);
});

test("the day's budget is of gas alone, and counts what others have spent of it", () => {
  const round = [group("a", 900n), group("b", 0n)];
  expect(ids(chooseErrands(round, nothing, { ...limits, gasBudget: 40n }))).toEqual(["a"]);
  const late = chooseErrands(round, { ...nothing, all: 1n }, { ...limits, gasBudget: 40n });
  expect(late).toEqual({ sign: [], overBudget: round });
});

test("a wallet that the operator has stopped signs nothing", () => {
  expect(chooseErrands([group("a")], { ...nothing, relayerStopped: true }, limits)).toEqual({
    sign: [],
    overBudget: [],
  });
});
