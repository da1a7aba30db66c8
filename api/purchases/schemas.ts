import { z } from "@hono/zod-openapi";
import { purchaseStates } from "../../lib/ledger/purchase.ts";
import { coverageInput, eitherProductName, namesProduct, productInputs } from "../buying/product-inputs.ts";
import {
  Address,
  addressInput,
  Bytes32,
  bytes32Input,
  CoveredAsset,
  DecimalString,
  nullableBytes32,
  sentSignatureInput,
  Timestamp,
  TxHash,
  uint256Input,
} from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";

const Permit = requestObject({
  value: uint256Input.openapi({
    description:
      "The allowance, USDC base units (6 decimals): the premium, and the premiums of the buyer's purchases in flight.",
    example: "2920000",
  }),
  deadline: uint256Input.openapi({
    description: "Unix seconds; at least 15 minutes after the newest block.",
    example: "1767225600",
  }),
  signature: sentSignatureInput.openapi({
    description:
      "Of the buyer: 65 bytes of a plain account (or 64 by EIP-2098), or what a contract wallet's ERC-1271 takes.",
  }),
}).openapi("Permit", {
  description:
    "In place of an approval: the buyer's EIP-2612 permit of USDC for the cover router. It is sent before the purchase, and not at all where the allowance is as high already. It never lowers an allowance.",
});

export const PurchaseRequest = requestObject({
  ...productInputs,
  coverageAmount: coverageInput,
  asset: bytes32Input.optional().openapi({
    description: "The covered asset's symbol as bytes32; by default the product's.",
    example: "0x4254430000000000000000000000000000000000000000000000000000000000",
  }),
  buyer: addressInput.openapi({
    description:
      "Who pays the premium and owns the policy: the key's wallet, or one that has delegated to it.",
  }),
  maxPremium: uint256Input.optional().openapi({
    description:
      "Refuse the purchase if its premium is higher, USDC base units (6 decimals). A premium that rises after acceptance refuses it in any case.",
    example: "3000000",
  }),
  permit: Permit.optional(),
})
  .refine(...namesProduct)
  .openapi("PurchaseRequest", {
    anyOf: eitherProductName,
    example: {
      productName: "FLASHBTC1H-001",
      coverageAmount: "1000000000",
      buyer: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    },
  });

const receiptFields = z.object({
  ok: z.literal(true),
  purchaseId: z.uuid().openapi({
    description: "For `GET /api/v1/purchases/{id}`.",
    example: "700bf5d5-c0cc-4436-94de-27031b1d28ee",
  }),
  txHash: TxHash,
  blockNumber: z.int().nullable().openapi({ example: 1234 }),
  policyId: DecimalString.openapi({ description: "Numbered per product.", example: "1" }),
  buyer: Address,
  productId: Bytes32,
  coverageAmount: DecimalString.openapi({ description: "USDC base units.", example: "1000000000" }),
  premiumPaid: DecimalString.openapi({ description: "USDC base units.", example: "2920000" }),
});

export const PurchaseReceipt = receiptFields.openapi("PurchaseReceipt");

export type PurchaseReceiptBody = z.infer<typeof PurchaseReceipt>;

export const Purchase = z
  .object({
    purchaseId: z.uuid().openapi({ example: "700bf5d5-c0cc-4436-94de-27031b1d28ee" }),
    state: z.enum(purchaseStates).openapi({
      description:
        "`accepted`: recorded; `signed`, `broadcast`: in progress; `mined`: bought; `confirmed`: bought, with enough confirmations; `failed`: `failure` says why; `replaced`: not mined in time, replaced by an empty transfer on the same nonce, nothing was bought.",
      example: "mined",
    }),
    createdAt: Timestamp,
    productId: Bytes32,
    coverageAmount: DecimalString.openapi({ description: "USDC base units.", example: "1000000000" }),
    asset: CoveredAsset,
    buyer: Address,
    txHash: nullableBytes32(
      "Null until signed.",
      "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
    ),
    receipt: receiptFields.nullable().openapi({ description: "Null until mined." }),
    failure: z
      .object({ error: z.string().openapi({ example: "onchain_revert" }), message: z.string() })
      .nullable()
      .openapi({
        description: "Null unless failed or replaced. `error` is the code that the purchase call returns.",
        example: null,
      }),
  })
  .openapi("Purchase");

export type PurchaseBody = z.infer<typeof Purchase>;
