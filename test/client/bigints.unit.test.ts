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
    nextCursor: "1234-5",
  };
  expect(withBigints(body)).toEqual({
    policies: [{ policyId: 7n, coverageAmount: 1_000_000_000n, triggeredAt: null, label: "42", count: 3 }],
    receipt: { premiumPaid: 2n ** 256n - 1n, blockNumber: 318, createdAt: "2026-01-01T00:00:00.000Z" },
    nextCursor: "1234-5",
  });
});
