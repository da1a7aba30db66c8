/** Schemas of the key endpoints. */
import { z } from "@hono/zod-openapi";
import { isOneLine } from "../../lib/one-line.ts";
import { Address, Timestamp, uint256Input } from "../http/field-types.ts";
import { type KeyLimits, keyScopes } from "../http/key-limits.ts";
import { KeyId, keyLimitFields, keyLimitsBody, Label, Tier } from "../http/key-schemas.ts";
import { productInput } from "../http/product-input.ts";
import type { IssuedKey as Issued } from "./store.ts";

/** In requests: a label is shown on one line. */
export const labelInput = z
  .string()
  .max(100)
  .refine(isOneLine, "must not contain control or formatting characters")
  .optional()
  .openapi({ description: "Purpose of the key, at most 100 characters.", example: "trading bot" });

/** Most products in a key's list: the catalogue has six, and the registry may have others. */
const MAX_PRODUCTS = 50;

const premiumLimitInput = uint256Input.optional();

/** In requests: a new key's limits. */
export const keyLimitInputs = {
  scopes: z
    .array(z.enum(keyScopes))
    .min(1)
    .transform((scopes) => [...new Set(scopes)])
    .optional()
    .openapi({
      description:
        "What the key is for; by default everything. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks.",
      example: ["read", "buy"],
    }),
  products: z
    .array(productInput)
    .min(1)
    .max(MAX_PRODUCTS)
    .transform((products) => [...new Set(products)])
    .optional()
    .openapi({
      description: "The products that the key may buy, by name or id; by default all.",
      example: ["FLASHBTC1H-001"],
    }),
  maxPremiumPerPurchase: premiumLimitInput.openapi({
    description: "The most premium of one purchase, USDC base units; by default no limit.",
    example: "10000000",
  }),
  maxPremiumPerDay: premiumLimitInput.openapi({
    description:
      "The most premium of all purchases that are accepted in a UTC day, USDC base units; by default no limit.",
    example: "50000000",
  }),
};

const limitInputs = z.object(keyLimitInputs);

/** The limits of a request; what it leaves out is no limit. */
export const requestedLimits = (request: z.infer<typeof limitInputs>): KeyLimits => ({
  scopes: request.scopes ?? null,
  products: request.products ?? null,
  maxPremiumPerPurchase: request.maxPremiumPerPurchase ?? null,
  maxPremiumPerDay: request.maxPremiumPerDay ?? null,
});

export const IssuedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    apiKey: z
      .string()
      .regex(/^lk_[0-9a-f]{64}$/)
      .openapi({
        description: "The key. It is shown only in this response.",
        example: "lk_5d1c0f6be27a94d3b8e1427fa0c6d95e3b7148f2ca60d7915e84b3f2a09c6d7e",
      }),
    wallet: Address,
    tier: Tier,
    label: Label,
    ...keyLimitFields,
    createdAt: Timestamp,
    warning: z.string().openapi({ example: "Store this key now: it cannot be shown again." }),
  })
  .openapi("IssuedKey");

export const RevokedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    revokedAt: Timestamp.openapi({
      description: "When the key was first revoked.",
    }),
  })
  .openapi("RevokedKey");

/** The only response that contains a key. */
export function issuedKeyBody({ plaintext, createdAt, limits, ...rest }: Issued): z.infer<typeof IssuedKey> {
  const warning = "Store this key now: it cannot be shown again.";
  const shown = { ...rest, ...keyLimitsBody(limits) };
  return { ok: true, ...shown, apiKey: plaintext, createdAt: createdAt.toISOString(), warning };
}
