/** The relayer's pure rules, as tables. */
import {
  BaseError,
  encodeErrorResult,
  encodeEventTopics,
  type Hex,
  numberToHex,
  pad,
  RpcRequestError,
} from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import type { OpenAttempt } from "../../workers/ledger/open.ts";
import { sendAnswer } from "../../workers/relayer/answers.ts";
import { minedFailure, simulatedFailure } from "../../workers/relayer/failures.ts";
import { bumpedFees, initialFees } from "../../workers/relayer/fees.ts";
import { outcomeOf } from "../../workers/relayer/outcome.ts";
import {
  BUMP_AFTER,
  isProvenLost,
  LOOK_AFTER,
  nextStep,
  SEND_AGAIN_AFTER,
  SHUNNED_AFTER,
} from "../../workers/relayer/plan.ts";
import { purchasedPolicy } from "../../workers/relayer/purchase-call.ts";

const gwei = 1_000_000_000n;
const hash = (n: number): Hex => numberToHex(n, { size: 32 });

describe("the code of a purchase that would revert", () => {
  const reason = (text: string) =>
    encodeErrorResult({
      abi: [{ type: "error", name: "Error", inputs: [{ type: "string", name: "reason" }] }],
      args: [text],
    });
  const routerError = (
    errorName: "ContractPaused" | "ProductInactive" | "ShieldPaused" | "NotAuthorizedRelayer",
  ) => {
    if (errorName === "ContractPaused") return encodeErrorResult({ abi: coverRouterAbi, errorName });
    if (errorName === "NotAuthorizedRelayer")
      return encodeErrorResult({
        abi: coverRouterAbi,
        errorName,
        args: ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
      });
    return encodeErrorResult({ abi: coverRouterAbi, errorName, args: [hash(1)] });
  };
  test.each([
    [routerError("ContractPaused"), "contract_paused", "ContractPaused"],
    [reason("SEQUENCER_DOWN"), "sequencer_down", "SEQUENCER_DOWN"],
    [reason("ORACLE_STALE"), "oracle_stale", "ORACLE_STALE"],
    [routerError("ProductInactive"), "product_inactive", `ProductInactive(${hash(1)})`],
    [routerError("ShieldPaused"), "shield_paused", `ShieldPaused(${hash(1)})`],
    [reason("Exceeds capacity"), "coverage_above_maximum", "Exceeds capacity"],
    [
      routerError("NotAuthorizedRelayer"),
      "not_authorized_relayer",
      "NotAuthorizedRelayer(0x70997970C51812dc3A010C7d01b50e0d17dc79C8)",
    ],
    [reason("ORACLE_INVALID"), "onchain_revert", "ORACLE_INVALID"],
    [reason("toString"), "onchain_revert", "toString"],
    ["0x", "onchain_revert", "reverted without a reason"],
    ["0x12345678", "onchain_revert", "unknown error 0x12345678"],
  ] as const)("%s is %s", (data, code, text) => {
    expect(simulatedFailure(decodeRevert(data))).toEqual({
      code,
      message: `The purchase would revert: ${text}`,
    });
  });

  test("a revert in a block is onchain_revert whatever the reason, known or not", () => {
    expect(minedFailure(7n, decodeRevert(routerError("ContractPaused")))).toEqual({
      code: "onchain_revert",
      message: "The transaction reverted in block 7: ContractPaused",
    });
    expect(minedFailure(7n, undefined)).toMatchObject({ code: "onchain_revert" });
  });
});

describe("fees", () => {
  test.each([
    { baseFee: 1n * gwei, priorityFee: 1n * gwei, cap: 50n * gwei, maxFee: 3n * gwei, tip: 1n * gwei },
    { baseFee: 0n, priorityFee: 0n, cap: 50n * gwei, maxFee: 0n, tip: 0n },
    { baseFee: 30n * gwei, priorityFee: 1n * gwei, cap: 50n * gwei, maxFee: 50n * gwei, tip: 1n * gwei },
    { baseFee: 50n * gwei, priorityFee: 60n * gwei, cap: 50n * gwei, maxFee: 50n * gwei, tip: 50n * gwei },
  ])("base $baseFee, tip $priorityFee, cap $cap", ({ baseFee, priorityFee, cap, maxFee, tip }) => {
    expect(initialFees({ baseFee, priorityFee }, cap)).toEqual({ maxFee, priorityFee: tip });
  });

  test("nothing is signed while the base fee is above the cap", () => {
    expect(initialFees({ baseFee: 51n * gwei, priorityFee: 0n }, 50n * gwei)).toBeUndefined();
  });

  test.each([0n, 1n, 7n, 8n, 9n, 1n * gwei, 3n * gwei + 1n])("a bump of %s is an eighth at least", (fee) => {
    const bumped = bumpedFees(
      { maxFee: fee, priorityFee: fee },
      { baseFee: 0n, priorityFee: 0n },
      50n * gwei,
    );
    expect((bumped?.maxFee ?? 0n) * 8n).toBeGreaterThanOrEqual(fee * 9n);
    expect((bumped?.priorityFee ?? 0n) * 8n).toBeGreaterThanOrEqual(fee * 9n);
  });

  test("a bump goes up to the market at once, and never above the cap", () => {
    const last = { maxFee: 3n * gwei, priorityFee: 1n * gwei };
    expect(bumpedFees(last, { baseFee: 10n * gwei, priorityFee: 2n * gwei }, 50n * gwei)).toEqual({
      maxFee: 22n * gwei,
      priorityFee: 2n * gwei,
    });
    expect(bumpedFees(last, { baseFee: 90n * gwei, priorityFee: 2n * gwei }, 50n * gwei)?.maxFee).toBe(
      50n * gwei,
    );
    expect(
      bumpedFees({ ...last, maxFee: 45n * gwei }, { baseFee: 0n, priorityFee: 0n }, 50n * gwei),
    ).toBeUndefined();
  });
});

describe("what to do about an open transaction", () => {
  const attempt = (sentAgo: number | null, age: number): OpenAttempt => ({
    hash: hash(1),
    bytes: "0x00",
    maxFee: 1n,
    priorityFee: 1n,
    sentAgo,
    age,
    cancels: false,
    taken: true,
  });
  const ttl = 600;
  const waiting = { kind: "purchase" as const, openFor: 0, stopped: false, halted: false };
  const node = { pooledNonce: 9, baseFee: 1n };
  test.each([
    { name: "never sent", nonce: 5, sentAgo: null, age: 0, minedNonce: 5, step: "send" },
    { name: "just sent", nonce: 5, sentAgo: 1, age: 1, minedNonce: 5, step: "wait" },
    { name: "sent a while ago", nonce: 5, sentAgo: SEND_AGAIN_AFTER, age: 6, minedNonce: 5, step: "send" },
    { name: "first in line for long", nonce: 5, sentAgo: 1, age: BUMP_AFTER, minedNonce: 5, step: "bump" },
    {
      name: "first in line for a while",
      nonce: 5,
      sentAgo: 1,
      age: BUMP_AFTER - 1,
      minedNonce: 5,
      step: "wait",
    },
    {
      name: "first in line for a while, and the node does not count it",
      nonce: 5,
      sentAgo: 1,
      age: SHUNNED_AFTER,
      minedNonce: 5,
      pooledNonce: 5,
      step: "bump",
    },
    { name: "behind another one for long", nonce: 6, sentAgo: 1, age: 99, minedNonce: 5, step: "wait" },
    {
      name: "behind another one, to be sent again",
      nonce: 6,
      sentAgo: 9,
      age: 99,
      minedNonce: 5,
      step: "send",
    },
    { name: "nonce used, just sent", nonce: 4, sentAgo: LOOK_AFTER - 1, age: 2, minedNonce: 5, step: "wait" },
    { name: "nonce used", nonce: 4, sentAgo: LOOK_AFTER, age: 9, minedNonce: 5, step: "look" },
    { name: "nonce used, never sent", nonce: 4, sentAgo: null, age: 9, minedNonce: 5, step: "look" },
  ])("$name: $step", ({ nonce, sentAgo, age, minedNonce, pooledNonce = 9, step }) => {
    const transaction = { ...waiting, nonce, attempts: [attempt(sentAgo, age)] };
    expect(nextStep(transaction, { ...node, minedNonce, pooledNonce }, ttl).do).toBe(step);
  });

  test.each([
    { name: "refused, for another reason", taken: false, baseFee: 1n, step: "wait" },
    { name: "refused, and below the base fee", taken: false, baseFee: 2n, step: "bump" },
    { name: "taken, and below the base fee", taken: true, baseFee: 2n, step: "bump" },
  ])("a fee is raised only where that helps: $name: $step", ({ taken, baseFee, step }) => {
    const attempts = [{ ...attempt(1, BUMP_AFTER), taken }];
    const transaction = { ...waiting, nonce: 5, attempts };
    expect(nextStep(transaction, { minedNonce: 5, pooledNonce: 5, baseFee }, ttl).do).toBe(step);
  });

  test.each([
    { what: "to be sent", attempts: [attempt(null, 1)], nonce: 5, step: "wait" },
    { what: "to be bumped", attempts: [attempt(9, BUMP_AFTER)], nonce: 5, step: "wait" },
    { what: "to be cancelled", attempts: [attempt(9, 9)], nonce: 5, openFor: ttl, step: "wait" },
    { what: "to be looked for", attempts: [attempt(9, 9)], nonce: 4, step: "look" },
  ])("while everything is stopped nothing is signed or sent: $what: $step", ({ step, ...more }) => {
    const transaction = { ...waiting, halted: true, ...more };
    expect(nextStep(transaction, { ...node, minedNonce: 5 }, ttl).do).toBe(step);
  });

  test("the newest form is the one that is sent", () => {
    const newest = { ...attempt(null, 0), hash: hash(2) };
    expect(
      nextStep(
        { ...waiting, nonce: 5, attempts: [attempt(1, 1), newest] },
        { minedNonce: 5, pooledNonce: 5, baseFee: 1n },
        ttl,
      ),
    ).toEqual({
      do: "send",
      attempt: newest,
    });
  });

  const cancelling = { ...attempt(1, 1), cancels: true };
  test.each([
    { name: "in time", openFor: ttl - 1, step: "wait" },
    { name: "too long on its way", openFor: ttl, step: "cancel" },
    { name: "too long on its way, behind another one", openFor: ttl, nonce: 6, step: "cancel" },
    { name: "too long on its way, its nonce used", openFor: ttl, nonce: 4, minedNonce: 9, step: "wait" },
    { name: "too long on its way, cancelled already", openFor: ttl, attempts: [cancelling], step: "wait" },
    { name: "a filler", kind: "filler" as const, openFor: ttl, step: "wait" },
    { name: "stopped, and sent", stopped: true, step: "cancel" },
    { name: "stopped before it was sent", stopped: true, attempts: [attempt(null, 1)], step: "cancel" },
    {
      name: "stopped before it was sent, cancelled already",
      stopped: true,
      attempts: [attempt(null, 1), { ...cancelling, sentAgo: null }],
      step: "send",
    },
  ])("what is wanted no more is cancelled: $name: $step", ({ step, minedNonce = 5, ...more }) => {
    const transaction = { ...waiting, nonce: 5, attempts: [attempt(1, 1)], ...more };
    expect(nextStep(transaction, { ...node, minedNonce }, ttl).do).toBe(step);
  });

  test.each([
    { name: "no holder found", holder: undefined, lost: false },
    { name: "one of ours", holder: { hash: hash(1), depth: 99n }, lost: false },
    {
      name: "one of ours, in other letters",
      holder: { hash: hash(171).toUpperCase(), depth: 99n },
      lost: false,
    },
    { name: "another one, too near the head", holder: { hash: hash(9), depth: 9n }, lost: false },
    { name: "another one, deep enough", holder: { hash: hash(9), depth: 10n }, lost: true },
  ])("a nonce is lost only to a transaction that is not ours: $name", ({ holder, lost }) => {
    expect(isProvenLost([{ hash: hash(1) }, { hash: hash(171) }], holder, 10)).toBe(lost);
  });
});

describe("a node's answer to signed bytes", () => {
  const refused = (message: string) =>
    new BaseError("An error occurred.", {
      cause: new RpcRequestError({ body: {}, url: "http://node", error: { code: -32000, message } }),
    });
  test.each([
    [refused("already known"), "accepted"],
    [refused("ALREADY_EXISTS: already known"), "accepted"],
    [refused("transaction already imported"), "accepted"],
    [refused("nonce too low: next nonce 5, tx nonce 4"), "unknown"],
    [refused("replacement transaction underpriced"), "refused"],
    [refused("insufficient funds for gas * price + value"), "refused"],
    [refused("max fee per gas less than block base fee"), "refused"],
    [refused("something new"), "unknown"],
    [new Error("fetch failed"), "unknown"],
    [new Error("fetch failed", { cause: new Error("already known") }), "accepted"],
    ["not an error", "unknown"],
  ])("%s", (error, kind) => {
    expect(sendAnswer(error).kind).toBe(kind);
  });
});

describe("what a receipt says", () => {
  const router = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
  const event = {
    address: router,
    topics: encodeEventTopics({
      abi: coverRouterAbi,
      eventName: "PolicyPurchased",
      args: { productId: hash(1), policyId: 42n, buyer: router },
    }).flatMap((topic) => (typeof topic === "string" ? [topic] : [])),
    // coverage, premium, payout, paidBy
    data: `0x${[100n, 7n, 80n].map((n) => numberToHex(n, { size: 32 }).slice(2)).join("")}${pad(router).slice(2)}` as const,
  } as const;
  const receipt = {
    hash: hash(5),
    blockNumber: 9n,
    blockHash: hash(6),
    succeeded: true,
    logs: [event],
    gasCost: 1n,
  };
  const place = { hash: hash(5), blockNumber: 9n, blockHash: hash(6), gasCost: 1n };
  const purchase = { kind: "purchase" as const, cancels: false };

  test("a policy is read from our own router's event, whatever else was emitted", () => {
    const stranger = { ...event, address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" } as const;
    const other = { ...event, topics: [hash(3)] };
    expect(purchasedPolicy([stranger, other, event], router)).toEqual({ policyId: 42n, premiumPaid: 7n });
    expect(purchasedPolicy([stranger, other, { ...event, topics: [] }], router)).toBeUndefined();
  });
  test("bought", () => {
    expect(outcomeOf(purchase, receipt, router, undefined)).toEqual({
      ...place,
      kind: "bought",
      policyId: 42n,
      premiumPaid: 7n,
    });
  });
  test("reverted", () => {
    const failed = { ...receipt, succeeded: false, logs: [] };
    expect(outcomeOf(purchase, failed, router, undefined)).toMatchObject({
      ...place,
      kind: "reverted",
      code: "onchain_revert",
    });
  });
  test("mined in its place: nothing was bought", () => {
    const cancelled = outcomeOf({ ...purchase, cancels: true }, { ...receipt, logs: [] }, router, undefined);
    expect(cancelled).toMatchObject({ ...place, kind: "replaced", code: "purchase_expired" });
  });
  test("mined without a policy is a failure that says so", () => {
    expect(outcomeOf(purchase, { ...receipt, logs: [] }, router, undefined)).toMatchObject({
      kind: "reverted",
      message: "The transaction was mined in block 9 and bought no policy",
    });
  });
  test("a filler concerns nobody", () => {
    expect(
      outcomeOf({ kind: "filler", cancels: false }, { ...receipt, logs: [] }, router, undefined),
    ).toEqual({
      ...place,
      kind: "filled",
    });
  });
});
