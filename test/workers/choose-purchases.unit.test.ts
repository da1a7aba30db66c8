/** Which purchases of a round are signed: the operator's stops, the budgets and the relayer's balance, without I/O. */
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { WantedGroup } from "../../workers/ledger/assign-nonces.ts";
import type { Candidate, Spending } from "../../workers/ledger/gas-spending.ts";
import { choosePurchases } from "../../workers/relayer/choose-purchases.ts";

const [ann, bob]: [Address, Address] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`];

const candidate = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  wallet: ann,
  stopped: false,
  paused: false,
  lacks: null,
  permitSent: false,
  ...more,
});
const nothing: Spending = { all: 0n, ofCode: 0n, byWallet: new Map(), reserved: 0n, relayerStopped: false };
const limits = { balance: 1000n, gasBudget: 1000n, gasBudgetPerWallet: 1000n };
/** Each purchase costs ten. */
const call = { to: ann, data: "0x", value: 0n, gasLimit: 1n } as const;
const group = (id: string, cost = 10n): WantedGroup => ({
  id,
  calls: [{ kind: "purchase", id, call, cost }],
});
const calls = new Map(["1", "2", "3", "4"].map((id) => [id, group(id)]));

describe("a purchase that may no longer be signed is refused with its reason", () => {
  test.each<{ what: string; more: Partial<Candidate>; code: string }>([
    { what: "stopped by the operator", more: { stopped: true }, code: "purchases_stopped" },
    { what: "of a paused wallet", more: { paused: true }, code: "purchases_paused" },
    { what: "without a delegation", more: { lacks: "delegation" }, code: "buyer_not_authorized" },
    { what: "of a revoked key", more: { lacks: "key" }, code: "unauthenticated" },
  ])("$what: $code", ({ more, code }) => {
    const choice = choosePurchases([candidate("1", more), candidate("2")], calls, nothing, limits);
    expect(choice.refuse).toMatchObject([{ id: "1", failure: { code } }]);
    expect(choice.send.map(({ id }) => id)).toEqual(["2"]);
  });
});

describe("budgets count earlier costs and those of this round", () => {
  test("of a wallet", () => {
    const spending = { ...nothing, all: 5n, byWallet: new Map([[ann, 5n]]) };
    const round = [candidate("1"), candidate("2"), candidate("3", { wallet: bob })];
    const choice = choosePurchases(round, calls, spending, { ...limits, gasBudgetPerWallet: 20n });
    expect(choice.send.map(({ id }) => id)).toEqual(["1", "3"]);
    expect(choice.refuse).toMatchObject([{ id: "2", failure: { code: "gas_budget_exceeded" } }]);
  });

  test("of all wallets", () => {
    const round = [candidate("1"), candidate("2", { wallet: bob })];
    const choice = choosePurchases(round, calls, { ...nothing, all: 5n }, { ...limits, gasBudget: 24n });
    expect(choice.send.map(({ id }) => id)).toEqual(["1"]);
    expect(choice.refuse).toMatchObject([{ id: "2", failure: { code: "relayer_unavailable" } }]);
  });

  test("to the last wei", () => {
    const exact = { ...limits, gasBudget: 20n, gasBudgetPerWallet: 20n, balance: 20n };
    const round = [candidate("1"), candidate("2")];
    expect(choosePurchases(round, calls, nothing, exact).send.map(({ id }) => id)).toEqual(["1", "2"]);
  });
});

describe("a purchase that the relayer cannot pay now waits, and is not refused", () => {
  test("the balance covers the pending transactions first", () => {
    const spending = { ...nothing, reserved: 75n };
    const round = [candidate("1"), candidate("2"), candidate("3")];
    const choice = choosePurchases(round, calls, spending, { ...limits, balance: 96n });
    expect(choice.send.map(({ id }) => id)).toEqual(["1", "2"]);
    expect(choice.wait).toEqual(["3"]);
    expect(choice.walletFault).toMatch(/balance/);
  });

  test("a relayer that the operator has stopped signs nothing", () => {
    const spending = { ...nothing, relayerStopped: true };
    const choice = choosePurchases([candidate("1")], calls, spending, limits);
    const walletFault = "the operator has stopped the wallet";
    expect(choice).toMatchObject({ send: [], wait: ["1"], walletFault });
  });

  test("a later purchase that costs less may be signed first", () => {
    const expensive = new Map([...calls, ["1", group("1", 500n)]]);
    const round = [candidate("1"), candidate("2")];
    const choice = choosePurchases(round, expensive, nothing, { ...limits, balance: 100n });
    expect(choice).toMatchObject({ send: [{ id: "2" }], wait: ["1"] });
  });
});
