import { expect, test } from "vitest";
import { withBigints } from "../../client/bigints.ts";

test("integers of the chain become bigints, at any depth, and nothing else does", () => {
  const body = {
    policies: [{ policyId: "7", coverageAmount: "1000000000", triggeredAt: null, label: "42", count: 3 }],
    receipt: {
      premiumPaid: String(2n ** 256n - 1n),
      blockNumber: 318,
      createdAt: "2026-01-01T00:00:00.000Z",
    },
    rounds: [{ roundId: "18446744073709551617" }, { roundId: "18446744073709551618" }],
    prices: [{ asset: "BTC", price: "6000000000000" }],
    nextCursor: "1234-5",
  };
  expect(withBigints(body)).toEqual({
    policies: [{ policyId: 7n, coverageAmount: 1_000_000_000n, triggeredAt: null, label: "42", count: 3 }],
    receipt: { premiumPaid: 2n ** 256n - 1n, blockNumber: 318, createdAt: "2026-01-01T00:00:00.000Z" },
    rounds: [{ roundId: 2n ** 64n + 1n }, { roundId: 2n ** 64n + 2n }],
    prices: [{ asset: "BTC", price: 6_000_000_000_000n }],
    nextCursor: "1234-5",
  });
});
