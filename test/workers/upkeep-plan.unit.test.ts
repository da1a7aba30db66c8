import { maxUint256, parseEther, parseGwei, parseUnits } from "viem";
import { describe, expect, test } from "vitest";
import { type Condition, planUpkeep, RETRY_SECONDS } from "../../workers/testnet/upkeep-plan.ts";

const usdc = (dollars: number): bigint => parseUnits(String(dollars), 6);
const relayer = { address: `0x${"ab".repeat(20)}`, ether: parseEther("1") } as const;
/** A wallet that lacks nothing. */
const well: Condition = {
  usdc: usdc(100_000),
  allowance: maxUint256,
  ether: 0n,
  gasPrice: parseGwei("1"),
  l1Fee: 0n,
  tooExpensive: false,
  budgetLeft: parseEther("5"),
  relayer,
  last: {},
};
const failed = (age: number) =>
  ({ state: "failed", message: "The transfer would revert: no.", age }) as const;

test("a wallet with USDC and an approval needs nothing, not even ether", () => {
  expect(planUpkeep(well)).toEqual({ begin: [], canBuy: true, fault: undefined });
});

test("an empty wallet gets USDC and ether at once, and approves when it has the ether", () => {
  const nothing = { ...well, usdc: 0n, allowance: 0n };
  expect(planUpkeep(nothing)).toEqual({
    begin: ["sandbox_usdc", "sandbox_ether"],
    canBuy: false,
    fault:
      "The wallet has 0 USDC, which is too little for a premium. The cover router has no approval to take premiums.",
  });
  const given = { ...nothing, usdc: usdc(100_000), ether: parseEther("0.001") };
  expect(planUpkeep(given)).toMatchObject({ begin: ["sandbox_approval"], canBuy: false });
});

describe("a wallet with little USDC", () => {
  test("is refilled while it still can buy, without a fault", () => {
    const low = { ...well, usdc: usdc(9999) };
    expect(planUpkeep(low)).toEqual({ begin: ["sandbox_usdc"], canBuy: true, fault: undefined });
    const open = { ...low, last: { sandbox_usdc: { state: "open" } } } as const;
    expect(planUpkeep(open)).toEqual({ begin: [], canBuy: true, fault: undefined });
    const done = { ...low, last: { sandbox_usdc: { state: "done" } } } as const;
    expect(planUpkeep(done)).toMatchObject({ begin: ["sandbox_usdc"] });
  });

  test("cannot buy once it has too little for the highest premium", () => {
    expect(planUpkeep({ ...well, usdc: usdc(20) })).toMatchObject({ canBuy: true });
    expect(planUpkeep({ ...well, usdc: usdc(19.5) })).toMatchObject({
      begin: ["sandbox_usdc"],
      canBuy: false,
      fault: "The wallet has 19.5 USDC, which is too little for a premium.",
    });
  });

  test("reports why the last mint failed, and tries again later, not in each round", () => {
    const refused = { ...well, usdc: usdc(500), last: { sandbox_usdc: failed(RETRY_SECONDS - 1) } };
    expect(planUpkeep(refused)).toEqual({
      begin: [],
      canBuy: true,
      fault: "Minting USDC for it failed: The transfer would revert: no.",
    });
    const later = { ...refused, last: { sandbox_usdc: failed(RETRY_SECONDS) } };
    expect(planUpkeep(later)).toMatchObject({ begin: ["sandbox_usdc"] });
  });
});

describe("an approval that is nearly used up", () => {
  test.each([
    ["needs ether first", parseEther("0.00009"), "sandbox_ether"],
    ["is renewed where there is ether", parseEther("0.0001"), "sandbox_approval"],
  ])("%s", (_, ether, purpose) => {
    expect(planUpkeep({ ...well, allowance: usdc(500), ether })).toEqual({
      begin: [purpose],
      canBuy: true,
      fault: undefined,
    });
  });

  test("is reported, with the reason why it cannot be renewed", () => {
    const condition = { ...well, allowance: 0n, last: { sandbox_ether: failed(0) } };
    expect(planUpkeep(condition)).toMatchObject({
      begin: [],
      canBuy: false,
      fault:
        "The cover router has no approval to take premiums. Giving it ether for its approval failed: The transfer would revert: no.",
    });
  });
});

describe("without a relayer that can pay the gas", () => {
  test.each([
    ["no active relayer", undefined, "No relayer of the testnet is at work."],
    [
      "a relayer without ether",
      { ...relayer, ether: 0n },
      "The relayer 0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB has 0 ETH and needs 0.002 at the present price of gas.",
    ],
  ])("(%s) nothing can be bought, and no service transaction begins that it would pay", (_, poor, fault) => {
    expect(planUpkeep({ ...well, relayer: poor })).toEqual({ begin: [], canBuy: false, fault });
    expect(planUpkeep({ ...well, relayer: poor, usdc: 0n, allowance: 0n })).toMatchObject({ begin: [] });
    const approving = { ...well, relayer: poor, allowance: 0n, ether: parseEther("0.001") };
    expect(planUpkeep(approving)).toMatchObject({ begin: ["sandbox_approval"] });
  });

  test("while gas costs more than the operator's cap no service transaction begins, not even an approval", () => {
    const expensive = { ...well, allowance: 0n, ether: parseEther("1"), tooExpensive: true };
    expect(planUpkeep(expensive)).toMatchObject({
      begin: [],
      canBuy: false,
      fault: expect.stringContaining("Gas costs more at present than the operator lets it cost."),
    });
  });

  test("once the day's gas budget is spent no service transaction begins", () => {
    const spent = { ...well, usdc: 0n, budgetLeft: parseEther("0.0019") };
    expect(planUpkeep(spent)).toMatchObject({
      begin: [],
      canBuy: false,
      fault: expect.stringContaining("The gas that may be spent in a day (UTC) is spent."),
    });
  });

  test("the price of gas decides what is enough", () => {
    const expensive = { ...well, relayer: { ...relayer, ether: parseEther("0.002") } };
    expect(planUpkeep(expensive)).toMatchObject({ canBuy: true });
    expect(planUpkeep({ ...expensive, gasPrice: parseGwei("1.1") })).toMatchObject({ canBuy: false });
  });
});
