import { z } from "@hono/zod-openapi";
import { Address, Bytes32, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { policyStatuses } from "./status.ts";

const usdc = (what: string, example: string) =>
  DecimalString.openapi({ description: `${what} USDC base units (6 decimals).`, example });

export const PolicyStatus = z.enum(policyStatuses).openapi("PolicyStatus", {
  description:
    "`Triggered` and `Cancelled` by events; else by time: `Waiting` before `waitingEndsAt`, `Expired` after `expiresAt`, else `Active`.",
});

export const Policy = z
  .object({
    productId: Bytes32,
    policyId: DecimalString.openapi({
      description: "Counts per product: a policy's key is both ids.",
      example: "1",
    }),
    shield: Address.openapi({ description: "Adapter of the product's shield." }),
    buyer: Address,
    holder: Address.openapi({ description: "Who gets the payout's bond: the buyer." }),
    coverageAmount: usdc("Coverage.", "1000000000"),
    payoutAmount: usdc("Paid out as bonds when triggered.", "800000000"),
    premiumPaid: usdc("Premium.", "2920000"),
    createdAt: UnixSeconds,
    expiresAt: UnixSeconds,
    status: PolicyStatus,
    triggered: z.boolean(),
    expired: z.boolean(),
    productName: z.string().nullable().openapi({
      description: "The text whose keccak256 is the product's id; null when it is not known.",
      example: "FLASHBTC1H-001",
    }),
    purchasedAt: UnixSeconds,
    waitingEndsAt: nullableDecimal(
      "End of the waiting period, Unix seconds; null when the product has none.",
    ),
    productActive: z.boolean().openapi({ description: "Whether the product can still be bought." }),
    priceSnapshot: DecimalString.openapi({
      description:
        "Price of the protocol token in USD at purchase, 18 decimals; 0 for policies of release V5.0.",
      example: "100000000000000000",
    }),
    triggeredAt: nullableDecimal("Unix seconds; null until triggered."),
    bondId: nullableDecimal("Epoch (YYYYMM) of the bond that paid the policy; null until triggered."),
    source: z.enum(["index", "chain"]).openapi({
      description:
        "Where this was read: the index, or the contracts while the index does not have it or lags.",
    }),
    asOfBlock: DecimalString.openapi({ description: "The block as of which this is true.", example: "1234" }),
  })
  .openapi("Policy");

export type PolicyBody = z.infer<typeof Policy>;
