/** Schemas of the key endpoints. */
import { z } from "@hono/zod-openapi";
import { Address, Timestamp } from "../http/field-types.ts";
import { KeyId, Label, Tier } from "../http/key-schemas.ts";
import type { IssuedKey as Issued } from "./store.ts";

/**
 * In requests: a label is shown on one line, so control and formatting characters, line ends and lone surrogates are
 * refused.
 */
export const labelInput = z
  .string()
  .max(100)
  .refine(
    (text) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text),
    "must not contain control or formatting characters",
  )
  .optional()
  .openapi({ description: "Purpose of the key, at most 100 characters.", example: "trading bot" });

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
export function issuedKeyBody({ plaintext, createdAt, ...rest }: Issued): z.infer<typeof IssuedKey> {
  const warning = "Store this key now: it cannot be shown again.";
  return { ok: true, ...rest, apiKey: plaintext, createdAt: createdAt.toISOString(), warning };
}
