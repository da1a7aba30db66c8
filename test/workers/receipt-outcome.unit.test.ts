import { encodeEventTopics, type Hex, numberToHex, pad } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { purchasedPolicy } from "../../workers/relayer/purchase-calls.ts";
import { outcomeOf } from "../../workers/relayer/settle-receipts.ts";

const hash = (n: number): Hex => numberToHex(n, { size: 32 });

describe("the outcome of a transaction, from its receipt", () => {
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
  const mined = { hash: hash(5), blockNumber: 9n, blockHash: hash(6), gasCost: 1n };
  const purchase = { kind: "purchase" as const, cancels: false };

  test("a policy is read from our own router's event, whatever other events there are", () => {
    const stranger = { ...event, address: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" } as const;
    const other = { ...event, topics: [hash(3)] };
    expect(purchasedPolicy([stranger, other, event], router)).toMatchObject({
      policyId: 42n,
      premiumPaid: 7n,
    });
    expect(purchasedPolicy([stranger, other, { ...event, topics: [] }], router)).toBeUndefined();
  });
  test("bought", () => {
    expect(outcomeOf(purchase, receipt, router, undefined)).toEqual({
      ...mined,
      kind: "bought",
      policyId: 42n,
      premiumPaid: 7n,
    });
  });
  test("reverted", () => {
    const failed = { ...receipt, succeeded: false, logs: [] };
    expect(outcomeOf(purchase, failed, router, undefined)).toMatchObject({
      ...mined,
      kind: "reverted",
      code: "onchain_revert",
    });
  });
  test("replaced by an empty transfer: nothing was bought", () => {
    const cancelled = outcomeOf({ ...purchase, cancels: true }, { ...receipt, logs: [] }, router, undefined);
    expect(cancelled).toMatchObject({ ...mined, kind: "replaced", code: "purchase_expired" });
  });
  test("mined without a policy: a failure with that message", () => {
    expect(outcomeOf(purchase, { ...receipt, logs: [] }, router, undefined)).toMatchObject({
      kind: "reverted",
      message: "The transaction was mined in block 9 and bought no policy",
    });
  });
  test("a filler", () => {
    expect(
      outcomeOf({ kind: "filler", cancels: false }, { ...receipt, logs: [] }, router, undefined),
    ).toEqual({
      ...mined,
      kind: "done",
    });
  });
});
