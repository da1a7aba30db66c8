import { z } from "@hono/zod-openapi";
import { purchaseStates } from "../../lib/ledger/tables.ts";
import {
  Address,
  addressInput,
  Bytes32,
  bytes32Input,
  DecimalString,
  nullableBytes32,
  Timestamp,
  uint256Input,
} from "../http/field-types.ts";

export const PurchaseRequest = z
  .object({
    productId: bytes32Input.optional().openapi({
      description: "The product; may be replaced by `productName`. Where both are given they must agree.",
    }),
    productName: z
      .string()
      .optional()
      .openapi({ description: "One of the six names.", example: "FLASHBTC1H-001" }),
    coverageAmount: uint256Input.openapi({
      description: "Coverage, USDC base units (6 decimals); 100000000 at least.",
      example: "1000000000",
    }),
    asset: bytes32Input.optional().openapi({
      description: "The covered asset's symbol as bytes32; the product's own when left out.",
      example: "0x4254430000000000000000000000000000000000000000000000000000000000",
    }),
    buyer: addressInput.openapi({
      description:
        "Who pays the premium and owns the policy: the key's wallet, or one that has delegated to it.",
    }),
  })
  .refine((body) => body.productId !== undefined || body.productName !== undefined, {
    path: ["productId"],
    message: "productId or productName is required",
    // Told together with the other fields' faults, not only once those are mended.
    when: ({ value }) => typeof value === "object" && value !== null && !Array.isArray(value),
  })
  .openapi("PurchaseRequest", {
    anyOf: [{ required: ["productId"] }, { required: ["productName"] }],
    example: {
      productName: "FLASHBTC1H-001",
      coverageAmount: "1000000000",
      buyer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    },
  });

export type PurchaseRequest = z.output<typeof PurchaseRequest>;

const receiptFields = z.object({
  ok: z.literal(true),
  purchaseId: z.uuid().openapi({ description: "For `GET /api/v1/purchases/{id}`." }),
  txHash: Bytes32,
  blockNumber: z.int().nullable().openapi({ example: 1234 }),
  policyId: DecimalString.openapi({ description: "Counts per product.", example: "1" }),
  buyer: Address,
  productId: Bytes32,
  coverageAmount: DecimalString.openapi({ description: "USDC base units.", example: "1000000000" }),
  premiumPaid: DecimalString.openapi({ description: "USDC base units.", example: "2920000" }),
});

export const PurchaseReceipt = receiptFields.openapi("PurchaseReceipt");

export type PurchaseReceiptBody = z.infer<typeof PurchaseReceipt>;

export const Purchase = z
  .object({
    purchaseId: z.uuid(),
    state: z.enum(purchaseStates).openapi({
      description:
        "`accepted`: recorded; `signed`, `broadcast`: on its way; `mined`: bought; `confirmed`: bought, and deep enough in the chain; `failed`: `failure` says why; `replaced`: it was not mined in time, an empty transfer took its place, and nothing was bought.",
    }),
    createdAt: Timestamp,
    productId: Bytes32,
    coverageAmount: DecimalString.openapi({ description: "USDC base units.", example: "1000000000" }),
    asset: Bytes32,
    buyer: Address,
    txHash: nullableBytes32("Null while nothing is signed."),
    receipt: receiptFields.nullable().openapi({ description: "Null until mined." }),
    failure: z
      .object({ error: z.string().openapi({ example: "onchain_revert" }), message: z.string() })
      .nullable()
      .openapi({
        description: "Null unless failed or replaced; the code is the one that the purchase call answers.",
      }),
  })
  .openapi("Purchase");

export type PurchaseBody = z.infer<typeof Purchase>;
