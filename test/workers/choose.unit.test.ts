/** Which purchases of a round are signed: the operator's stops, the budgets and the relayer's balance, without I/O. */
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { Candidate, Spending } from "../../workers/ledger/spending.ts";
import { choose } from "../../workers/relayer/choose.ts";

const [ann, bob]: [Address, Address] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`];

const candidate = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  wallet: ann,
  stopped: false,
  rests: false,
  allowed: true,
  ...more,
});
const nothing: Spending = { all: 0n, byWallet: new Map(), reserved: 0n, relayerStopped: false };
const limits = { balance: 1000n, gasBudget: 1000n, gasBudgetPerWallet: 1000n };
/** Each costs ten. */
const costs = new Map(["1", "2", "3", "4"].map((id) => [id, 10n]));

describe("a purchase that may not be signed any more is refused with its reason", () => {
  test.each([
    { what: "stopped by the operator", more: { stopped: true }, code: "purchases_stopped" },
    { what: "of a wallet that rests", more: { rests: true }, code: "purchases_paused" },
    { what: "without a delegation", more: { allowed: false }, code: "buyer_not_authorized" },
  ])("$what: $code", ({ more, code }) => {
    const choice = choose([candidate("1", more), candidate("2")], costs, nothing, limits);
    expect(choice.refuse).toMatchObject([{ id: "1", failure: { code } }]);
    expect(choice.sign).toEqual(["2"]);
  });
});

describe("budgets count what was spent and what this round adds", () => {
  test("of a wallet", () => {
    const spending = { ...nothing, all: 5n, byWallet: new Map([[ann, 5n]]) };
    const round = [candidate("1"), candidate("2"), candidate("3", { wallet: bob })];
    const choice = choose(round, costs, spending, { ...limits, gasBudgetPerWallet: 20n });
    expect(choice.sign).toEqual(["1", "3"]);
    expect(choice.refuse).toMatchObject([{ id: "2", failure: { code: "gas_budget_exceeded" } }]);
  });

  test("of all", () => {
    const round = [candidate("1"), candidate("2", { wallet: bob })];
    const choice = choose(round, costs, { ...nothing, all: 5n }, { ...limits, gasBudget: 24n });
    expect(choice.sign).toEqual(["1"]);
    expect(choice.refuse).toMatchObject([{ id: "2", failure: { code: "relayer_unavailable" } }]);
  });

  test("to the last wei", () => {
    const exact = { ...limits, gasBudget: 20n, gasBudgetPerWallet: 20n, balance: 20n };
    expect(choose([candidate("1"), candidate("2")], costs, nothing, exact).sign).toEqual(["1", "2"]);
  });
});

describe("what the relayer cannot pay now waits, and is not refused", () => {
  test("its balance covers what is on its way first", () => {
    const spending = { ...nothing, reserved: 75n };
    const choice = choose([candidate("1"), candidate("2"), candidate("3")], costs, spending, {
      ...limits,
      balance: 96n,
    });
    expect(choice.sign).toEqual(["1", "2"]);
    expect(choice.wait).toEqual(["3"]);
    expect(choice.full).toMatch(/balance/);
  });

  test("a relayer that the operator has stopped signs nothing", () => {
    const choice = choose([candidate("1")], costs, { ...nothing, relayerStopped: true }, limits);
    expect(choice).toMatchObject({ sign: [], wait: ["1"], full: "the operator has stopped the wallet" });
  });

  test("a later purchase that costs less may go first", () => {
    const dear = new Map([...costs, ["1", 500n] as const]);
    const choice = choose([candidate("1"), candidate("2")], dear, nothing, { ...limits, balance: 100n });
    expect(choice).toMatchObject({ sign: ["2"], wait: ["1"] });
  });
});
