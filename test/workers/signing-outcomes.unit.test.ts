/** What a signing round says of each purchase, from its simulation and what was sent. */
import { describe, expect, test } from "vitest";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import type { WaitingPurchase } from "../../workers/ledger/waiting.ts";
import { outcomesOf, outcomesOfChoice, type SigningOutcome } from "../../workers/relayer/choose-purchases.ts";
import type { SimulatedPurchase } from "../../workers/relayer/simulate-round.ts";

const purchase = (id: string): WaitingPurchase => ({
  id,
  client: "0x3",
  key: null,
  request: { productId: "0x1", coverageAmount: 1n, asset: "0x2", buyer: "0x3" },
  quotedPremium: 10n,
  permit: undefined,
  acceptedAt: new Date(0),
  age: 0,
  unknownFor: null,
});
const buys = { kind: "buys", gas: 1n, permitGasLimit: undefined, premium: 10n, payout: 1n } as const;
const reverts: SimulatedPurchase = { kind: "reverts", revert: decodeRevert("0x") };
const sent: SigningOutcome = { kind: "sent", broadcast: Promise.resolve() };
const waits: SigningOutcome = { kind: "waits", reason: "no ether" };

/** The kinds of the outcomes of purchases "0", "1" … */
function kinds(purchases: SimulatedPurchase[], signed: Record<string, SigningOutcome>) {
  const outcomes = outcomesOf(
    purchases.map((_, n) => purchase(String(n))),
    { block: 1n, capacityLeft: 0n, purchases },
    new Map(Object.entries(signed)),
  );
  return purchases.map((_, n) => outcomes.get(String(n))?.kind);
}

describe("a purchase that reverts in the sequence", () => {
  test("is refused once all before it are sent", () => {
    expect(kinds([buys, reverts, buys, reverts], { 0: sent, 2: sent })).toEqual([
      "sent",
      "reverts",
      "sent",
      "reverts",
    ]);
  });

  test.each([
    ["waits", waits],
    ["is refused", { kind: "refused", failure: { code: "purchases_stopped", message: "" } } as const],
    ["was signed elsewhere", { kind: "taken" } as const],
  ])("waits when one before it %s: that one may have caused the revert", (_, outcome) => {
    expect(kinds([reverts, buys, reverts], { 1: outcome })).toEqual(["reverts", outcome.kind, "waits"]);
  });

  test("waits when one before it costs more than was quoted", () => {
    expect(kinds([{ ...buys, premium: 11n }, reverts], {})).toEqual(["premium_risen", "waits"]);
  });
});

test("a purchase for more than its quoted premium is not sent; one for less is", () => {
  const outcomes = outcomesOf(
    [purchase("up"), purchase("down")],
    {
      block: 1n,
      capacityLeft: 0n,
      purchases: [
        { ...buys, premium: 11n },
        { ...buys, premium: 9n },
      ],
    },
    new Map([["down", sent]]),
  );
  expect(outcomes.get("up")).toEqual({ kind: "premium_risen", quoted: 10n, premium: 11n });
  expect(outcomes.get("down")).toBe(sent);
});

test("a purchase that the simulation says nothing about waits, and those after it are sure of their reverts", () => {
  expect(kinds([{ kind: "unknown", fault: "out of gas" }, reverts], {})).toEqual(["waits", "reverts"]);
});

describe("a permit whose broadcast fails, because the database is down", () => {
  const call = { to: "0x2", data: "0x", value: 0n, gasLimit: 1n } as const;
  const permit = { kind: "permit", id: "permit", purchaseId: "0", call, cost: 1n } as const;
  const outcomesWith = (...send: Parameters<typeof outcomesOfChoice>[0]["send"]) =>
    outcomesOfChoice(
      { send, refuse: [], wait: [], walletFault: undefined },
      new Map([["permit", Promise.reject(new Error("the database is down"))]]),
    ).get("0");

  test.each([
    {
      what: "before its purchase",
      calls: [permit, { kind: "purchase", id: "0", call, cost: 1n } as const],
      kind: "sent",
    },
    { what: "alone", calls: [permit], kind: "permit_sent" },
  ])(
    "$what: its purchase's outcome has the failure, so that somebody handles it",
    async ({ calls, kind }) => {
      const outcome = outcomesWith(...calls);
      if (outcome?.kind !== "sent" && outcome?.kind !== "permit_sent") throw new Error("nothing was sent");
      expect(outcome.kind).toBe(kind);
      await expect(outcome.broadcast).rejects.toThrow("the database is down");
    },
  );
});
