/** What the endpoints of keys have in common. */
import { z } from "@hono/zod-openapi";
import { Address, Timestamp } from "../http/field-types.ts";
import { type IssuedKey as Issued, keyTiers } from "./store.ts";

export const KeyId = z.int().openapi({ description: "Number of a key.", example: 1 });

export const Tier = z
  .enum(keyTiers)
  .openapi({ description: "Decides the key's request allowance.", example: "free" });

/** In requests: the number of a row, as it stands in an address. */
export const rowIdInput = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number)
  .openapi({ type: "integer", minimum: 0, example: 1 });

/**
 * In requests. A label is shown to people, on one line: no control or formatting characters, no ends of lines, nor halves
 * of a pair, which are no text at all.
 */
export const labelInput = z
  .string()
  .max(100)
  .refine(
    (text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
    "must not hold control or formatting characters",
  )
  .optional()
  .openapi({ description: "What the key is for, 100 characters at most.", example: "trading bot" });

export const Label = z.string().nullable().openapi({ example: "trading bot" });

export const IssuedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    apiKey: z
      .string()
      .regex(/^lk_[0-9a-f]{64}$/)
      .openapi({ description: "The key itself, shown this once.", example: `lk_${"0".repeat(64)}` }),
    wallet: Address,
    tier: Tier,
    label: Label,
    createdAt: Timestamp,
    warning: z.string().openapi({ example: "Store this key now: it cannot be shown again." }),
  })
  .openapi("IssuedKey");

export const RevokedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    revokedAt: Timestamp.openapi({
      description: "Since when the key is refused: the first call's time, if it was revoked before.",
    }),
  })
  .openapi("RevokedKey");

/** The one answer that holds a key. */
export function issuedKeyBody({ plaintext, createdAt, ...rest }: Issued): z.infer<typeof IssuedKey> {
  const warning = "Store this key now: it cannot be shown again.";
  return { ok: true, ...rest, apiKey: plaintext, createdAt: createdAt.toISOString(), warning };
}
