/** Schemas of an API key's fields in responses. */
import { z } from "@hono/zod-openapi";
import { entryById } from "../../lib/products.ts";
import { HASH_PREFIX, keyTiers } from "./api-keys.ts";
import { decimalOrNull, nullableDecimal } from "./field-types.ts";
import { type KeyLimits, keyScopes } from "./key-limits.ts";

export const KeyId = z.int().openapi({ description: "Id of the key.", example: 1 });

export const Tier = z
  .enum(keyTiers)
  .openapi({ description: "Determines the key's rate limit.", example: "free" });

export const Label = z.string().nullable().openapi({ example: "trading bot" });

export const HashPrefix = z
  .string()
  .regex(new RegExp(`^[0-9a-f]{${HASH_PREFIX}}$`))
  .openapi({
    description: `First ${HASH_PREFIX} hex digits of the key's SHA-256, to recognise a key that you have.`,
    example: "3f1c8a90",
  });

const limitFields = z.object({
  scopes: z.array(z.enum(keyScopes)).openapi({
    description:
      "What the key is for. `read`: the wallet's policies, bonds, purchases and keys; `buy`: purchases and delegations; `webhooks`: everything about webhooks. Public reads need none.",
    example: ["read", "buy"],
  }),
  products: z
    .array(z.string())
    .nullable()
    .openapi({
      description: "The products that it may buy: names, and ids of products without one. Null: all.",
      example: ["FLASHBTC1H-001"],
    }),
  maxPremiumPerPurchase: nullableDecimal(
    "The most premium of one purchase, USDC base units; null: no limit.",
    "10000000",
  ),
  maxPremiumPerDay: nullableDecimal(
    "The most premium of all purchases that are accepted in a UTC day, USDC base units; null: no limit. A purchase counts with the premium that was quoted, unless it fails.",
    "50000000",
  ),
});

/** A key's limits in responses. */
export const keyLimitFields = limitFields.shape;

/** A key's limits as responses show them. */
export const keyLimitsBody = (limits: KeyLimits): z.infer<typeof limitFields> => ({
  scopes: [...(limits.scopes ?? keyScopes)],
  products: limits.products?.map((id) => entryById(id)?.name ?? id) ?? null,
  maxPremiumPerPurchase: decimalOrNull(limits.maxPremiumPerPurchase),
  maxPremiumPerDay: decimalOrNull(limits.maxPremiumPerDay),
});
