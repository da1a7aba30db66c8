import { z } from "@hono/zod-openapi";
import { policyStatuses } from "../../lib/indexed/policy-status.ts";
import {
  Address,
  Bytes32,
  DecimalString,
  nullableDecimal,
  UnixSeconds,
  uint256Input,
} from "../http/field-types.ts";
import { productInput } from "../http/product-input.ts";

const usdc = (what: string, example: string) =>
  DecimalString.openapi({ description: `${what} USDC base units (6 decimals).`, example });

/** What a due policy's buyer, or anybody else, does next. */
const claimCall = z.object({
  method: z.literal("POST"),
  path: z.literal("/api/v1/triggers/prepare"),
  body: z.object({ productId: Bytes32, policyId: DecimalString.openapi({ example: "1" }) }),
});
const CLAIM_MEANING =
  "The call that prepares the claim's transaction. Add `from` to its body, the wallet that will send the transaction; any wallet may, and the bond goes to the buyer.";

/** The claim of a policy that is due. */
export const claim = claimCall.openapi({ description: CLAIM_MEANING });
const claimOrNull = claimCall
  .nullable()
  .openapi({ description: `${CLAIM_MEANING} Null unless \`due\` is true.`, example: null });

/** The key of a policy in an address. */
export const policyParams = z.object({
  productId: productInput,
  policyId: uint256Input.openapi({ description: "Numbered per product.", example: "1" }),
});

export const PolicyStatus = z.enum(policyStatuses).openapi("PolicyStatus", {
  description:
    "`Triggered` after that event. Otherwise by the block's time: `Active` until `expiresAt`, then `Expired`. `Waiting` and `Cancelled` never occur: V5.4 has none.",
  example: "Active",
});

export const Policy = z
  .object({
    productId: Bytes32,
    policyId: DecimalString.openapi({
      description: "Numbered per product: only both ids together identify a policy.",
      example: "1",
    }),
    shield: Address.openapi({
      description: "Adapter contract of the product's shield.",
      example: "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
    }),
    buyer: Address,
    holder: Address.openapi({ description: "Receives the payout's bond: the buyer." }),
    coverageAmount: usdc("Coverage.", "1000000000"),
    payoutAmount: usdc("Payout in bonds when triggered.", "800000000"),
    premiumPaid: usdc("Premium.", "2920000"),
    createdAt: UnixSeconds,
    expiresAt: UnixSeconds.openapi({ example: "1767229200" }),
    status: PolicyStatus,
    triggered: z.boolean().openapi({ example: false }),
    expired: z.boolean().openapi({ example: false }),
    productName: z.string().nullable().openapi({
      description: "The product's name, the preimage of its id (keccak256); null when unknown.",
      example: "FLASHBTC1H-001",
    }),
    purchasedAt: UnixSeconds,
    waitingEndsAt: nullableDecimal("End of the waiting period, Unix seconds. Always null: V5.4 has none."),
    productActive: z.boolean().openapi({ description: "Whether the product can still be bought." }),
    priceSnapshot: DecimalString.openapi({
      description:
        "Price of the protocol token in USD at purchase, 18 decimals; `0` when unknown, and when `source` is `chain` without an indexed row.",
      example: "100000000000000000",
    }),
    triggeredAt: nullableDecimal(
      "Unix seconds; null until triggered. Only the index knows it: also null when `source` is `chain` without an indexed row.",
    ),
    bondId: nullableDecimal("Epoch (YYYYMM) of the bond that paid the policy; null as `triggeredAt`."),
    strikePrice: nullableDecimal(
      "The asset's price in USD at purchase, 18 decimals; null when unknown.",
      "60000000000000000000000",
    ),
    triggerPrice: nullableDecimal(
      "The highest price of the asset in USD, 18 decimals, that triggers the policy; null when unknown.",
      "58500000000000000000000",
    ),
    currentPrice: nullableDecimal(
      "The asset's price in USD, 18 decimals: the newest round of its feed; null when unknown.",
      "59000000000000000000000",
    ),
    currentPriceAt: nullableDecimal("The time of that round, Unix seconds.", "1767225900"),
    distanceToTriggerBps: z.int().nullable().openapi({
      description:
        "How far the price has to fall to `triggerPrice`, in basis points of `currentPrice`, rounded up: zero at the trigger price, not above zero below it. Null when unknown, or when the policy is not `Active`.",
      example: 85,
    }),
    due: z.boolean().nullable().openapi({
      description:
        "Whether a call now makes an observation, the third of which pays: the feed's newest price is at or below `triggerPrice`, at most an hour old, and not observed yet, the purchase is 300 seconds ago, the observation before 60, and the sequencer has been up for an hour. Null for a policy that is `Active` when `source` is `chain`.",
      example: false,
    }),
    claim: claimOrNull,
    source: z.enum(["index", "chain"]).openapi({
      description: "Read from the index, or from the contracts while the index lacks the policy or lags.",
    }),
    asOfBlock: DecimalString.openapi({ description: "The block that this describes.", example: "1234" }),
  })
  .openapi("Policy");

export type PolicyBody = z.infer<typeof Policy>;
