import { z } from "@hono/zod-openapi";
import { Address, Bytes32, CoveredAsset, DecimalString } from "../http/field-types.ts";

const integer = (description: string, example: number) => z.int().openapi({ description, example });

const dropBps = integer(
  "Price fall since the purchase that triggers, in basis points; null outside the service's catalogue.",
  250,
).nullable();

export const Product = z
  .object({
    productId: Bytes32,
    shield: Address.openapi({
      description: "Adapter contract of the product's shield.",
      example: "0x9A9f2CCfdE556A7E9Ff0848998Aa4a0CFD8863AE",
    }),
    payoutRatioBps: integer("Payout in basis points of the coverage.", 8000),
    triggerProbBps: integer("Probability of the trigger that the premium implies, in basis points.", 18),
    marginBps: integer("Premium in relation to the expected payout, in basis points.", 20000),
    durationSeconds: integer("Duration of the cover.", 3600),
    active: z.boolean().openapi({ description: "Whether the product can be bought." }),
    name: z.string().nullable().openapi({
      description: "The name, the preimage of the id (keccak256); null when unknown.",
      example: "FLASHBTC1H-001",
    }),
    displayName: z.string().openapi({ example: "BTC flash shield, 1 hour" }),
    coveredAsset: z.string().openapi({ description: "Symbol of the covered asset.", example: "BTC" }),
    paymentAsset: z
      .string()
      .openapi({ description: "Symbol of the token that pays the premium.", example: "USDC" }),
    coverageDescription: z.string(),
    asset: CoveredAsset,
    triggerDropBps: dropBps,
    waitingSeconds: integer("Seconds from the purchase until cover begins. Always 0: V5.4 has none.", 0),
    legacy: z
      .boolean()
      .openapi({ description: "Of an earlier release. Always false: V5.4 has none.", example: false }),
    paused: z.boolean().openapi({
      description: "Whether the product alone is paused. Always false: V5.4 has no such pause.",
      example: false,
    }),
  })
  .openapi("Product");

export type ProductBody = z.infer<typeof Product>;

const amount = (description: string, example: string) => DecimalString.openapi({ description, example });

export const Quote = z
  .object({
    productId: Bytes32,
    productName: z.string().nullable().openapi({ example: "FLASHBTC1H-001" }),
    coverageAmount: amount("Coverage, USDC base units (6 decimals).", "1000000000"),
    premium: amount("Premium, USDC base units: what the router takes.", "2920000"),
    payout: amount("Payout when triggered, USDC base units.", "800000000"),
    availableCapacity: amount(
      "The vault's free capacity for payouts, USDC base units, before this purchase.",
      "5000000000000",
    ),
    trigger: z.object({
      coveredAsset: z.string().openapi({ example: "BTC" }),
      asset: CoveredAsset,
      dropBps,
      windowSeconds: integer("Duration of the cover, in seconds.", 3600),
      waitingSeconds: integer("Seconds from the purchase until cover begins. Always 0: V5.4 has none.", 0),
      payoutRatioBps: integer("Payout in basis points of the coverage.", 8000),
    }),
    asOfBlock: amount("The block that the quote describes.", "1234"),
  })
  .openapi("Quote");
