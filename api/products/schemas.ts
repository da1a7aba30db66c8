import { z } from "@hono/zod-openapi";
import { Address, Bytes32, DecimalString } from "../http/field-types.ts";

const integer = (description: string, example: number) => z.int().openapi({ description, example });

export const Product = z
  .object({
    productId: Bytes32,
    shield: Address.openapi({ description: "Adapter of the product's shield." }),
    payoutRatioBps: integer("Payout in basis points of the coverage.", 8000),
    triggerProbBps: integer("Probability of a trigger that the premium implies, in basis points.", 18),
    marginBps: integer("Premium over what the payout is expected to cost, in basis points.", 20000),
    durationSeconds: integer("Length of the cover's window, the waiting period included.", 3600),
    active: z
      .boolean()
      .openapi({ description: "Whether the product can be bought: neither deactivated nor paused." }),
    name: z.string().nullable().openapi({
      description: "The text whose keccak256 is the id; null when it is not known.",
      example: "FLASHBTC1H-001",
    }),
    displayName: z.string().openapi({ example: "BTC flash shield, 1 hour" }),
    coveredAsset: z
      .string()
      .openapi({ description: "Symbol of the asset whose fall is covered.", example: "BTC" }),
    paymentAsset: z.string().openapi({ description: "Symbol of the token of the premium.", example: "USDC" }),
    coverageDescription: z.string(),
    asset: Bytes32.openapi({ description: "The covered asset's symbol as bytes32." }),
    triggerDropBps: integer("Fall from the purchase price that triggers, in basis points.", 250),
    premiumPpm: integer("Premium in millionths of the coverage: 2920 is 2.92 USD per 1000 USD.", 2920),
    waitingSeconds: integer("Seconds from the purchase until cover begins; 0 for none.", 0),
    legacy: z.boolean().openapi({ description: "Of release V5.0; not sold through this API." }),
    paused: z.boolean().openapi({ description: "The product's own pause." }),
  })
  .openapi("Product");

export type ProductBody = z.infer<typeof Product>;

const amount = (description: string, example: string) => DecimalString.openapi({ description, example });

export const Quote = z
  .object({
    productId: Bytes32,
    productName: z.string().nullable().openapi({ example: "FLASHBTC1H-001" }),
    coverageAmount: amount("Coverage, USDC base units (6 decimals).", "1000000000"),
    premium: amount("Premium, USDC base units, rounded up.", "2920000"),
    payout: amount("Payout when triggered, USDC base units.", "800000000"),
    availableCapacity: amount(
      "Payouts that the vault can still take on, USDC base units; this quote's is not taken off.",
      "5000000000000",
    ),
    trigger: z.object({
      coveredAsset: z.string().openapi({ example: "BTC" }),
      asset: Bytes32,
      dropBps: integer("Fall from the purchase price that triggers, in basis points.", 250),
      windowSeconds: integer("Length of the cover's window.", 3600),
      waitingSeconds: integer("Seconds from the purchase until cover begins; 0 for none.", 0),
      payoutRatioBps: integer("Payout in basis points of the coverage.", 8000),
    }),
    asOfBlock: amount("The block as of which this is true.", "1234"),
  })
  .openapi("Quote");
