/** Which stuck transactions get a higher fee: budget and balance in the order of the nonces, without I/O. */
import { expect, test } from "vitest";
import type { Raise, Spending } from "../../workers/ledger/gas-spending.ts";
import { chooseRaises } from "../../workers/relayer/recovery/raise-fees.ts";

/** Three transactions are in flight, with ten wei reserved for each. */
const spending: Spending = {
  all: 30n,
  ofCode: 0n,
  byWallet: new Map(),
  reserved: 30n,
  relayerStopped: false,
};
const limits = { balance: 1000n, gasBudget: 1000n };
/** Each rises from 10 wei to 25. */
const raise = (id: number, more: Partial<Raise> = {}): Raise => ({
  id,
  cost: 25n,
  reserved: 10n,
  isEmpty: false,
  ...more,
});
const round = [raise(1), raise(2), raise(3)];
const ids = (raises: readonly Raise[]) => raises.map(({ id }) => id);

test("the balance covers what is reserved and what a raise adds, to the last wei", () => {
  expect(ids(chooseRaises(round, spending, { ...limits, balance: 60n }))).toEqual([1, 2]);
  expect(ids(chooseRaises(round, spending, { ...limits, balance: 59n }))).toEqual([1]);
});

test("the day's gas budget covers what is counted and what a raise adds, to the last wei", () => {
  expect(ids(chooseRaises(round, spending, { ...limits, gasBudget: 60n }))).toEqual([1, 2]);
  expect(ids(chooseRaises(round, spending, { ...limits, gasBudget: 59n }))).toEqual([1]);
});

test("nothing is raised behind a transaction that cannot be: no higher nonce is mined before it", () => {
  const first = raise(1, { cost: 2000n });
  expect(chooseRaises([first, raise(2)], spending, limits)).toEqual([]);
});

test("a raise that adds nothing to the reservation needs neither balance nor budget", () => {
  const [cheap, none] = [raise(1, { cost: 9n }), { balance: 0n, gasBudget: 0n }];
  expect(ids(chooseRaises([cheap, raise(2)], spending, none))).toEqual([1]);
});

test("an empty transfer is raised beyond the budget, and never beyond the balance", () => {
  const empty = raise(1, { isEmpty: true });
  expect(ids(chooseRaises([empty, raise(2)], spending, { ...limits, gasBudget: 0n }))).toEqual([1]);
  expect(chooseRaises([empty], spending, { ...limits, balance: 44n })).toEqual([]);
});

test("a wallet that the operator has stopped raises nothing", () => {
  expect(chooseRaises(round, { ...spending, relayerStopped: true }, limits)).toEqual([]);
});
