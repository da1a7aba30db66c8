import { createRoute, z } from "@hono/zod-openapi";
import { keyTiers } from "../../lib/keys/store.ts";
import { Address, addressInput, Timestamp } from "../schemas/basics.ts";
import { failures } from "../schemas/error.ts";

const KeyId = z.int().openapi({ description: "Number of a key.", example: 1 });
const Tier = z
  .enum(keyTiers)
  .openapi({ description: "Decides the key's request allowance.", example: "free" });
const keyIdInput = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number)
  .openapi({ type: "integer", minimum: 0, example: 1 });

const GenerateKey = z
  .object({
    wallet: addressInput.openapi({
      description: "The wallet that the key belongs to, and that it may buy for.",
    }),
    // A label is shown to people: no control or formatting characters, nor halves of a pair, which are no text at all.
    label: z
      .string()
      .max(100)
      .refine((text) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(text), "must not hold control or formatting characters")
      .optional()
      .openapi({ description: "What the key is for, 100 characters at most.", example: "trading bot" }),
    tier: Tier.default("free"),
  })
  .openapi("GenerateKey");

const IssuedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    apiKey: z
      .string()
      .regex(/^lk_[0-9a-f]{64}$/)
      .openapi({ description: "The key itself, shown this once.", example: `lk_${"0".repeat(64)}` }),
    wallet: Address,
    tier: Tier,
    label: z.string().nullable().openapi({ example: "trading bot" }),
    createdAt: Timestamp,
    warning: z.string().openapi({ example: "Store this key now: it cannot be shown again." }),
  })
  .openapi("IssuedKey");

const RevokedKey = z
  .object({
    ok: z.literal(true),
    keyId: KeyId,
    revokedAt: Timestamp.openapi({
      description: "Since when the key is refused: the first call's time, if it was revoked before.",
    }),
  })
  .openapi("RevokedKey");

const Me = z.object({ ok: z.literal(true), wallet: Address, tier: Tier, keyId: KeyId }).openapi("Me");

export const generateKeyRoute = createRoute({
  method: "post",
  path: "/api/v1/keys/generate",
  operationId: "generateKey",
  tags: ["keys"],
  summary: "Issue a key to a wallet",
  description: "Each call makes another key. The plaintext is in this answer and nowhere else.",
  security: [{ adminToken: [] }],
  request: { body: { required: true, content: { "application/json": { schema: GenerateKey } } } },
  responses: {
    201: { description: "The new key.", content: { "application/json": { schema: IssuedKey } } },
    ...failures(
      "validation_error",
      "unauthenticated",
      "forbidden",
      "payload_too_large",
      "unsupported_media_type",
      "internal_error",
      "database_unavailable",
      "chain_not_found",
    ),
  },
});

export const revokeKeyRoute = createRoute({
  method: "delete",
  path: "/api/v1/keys/{id}",
  operationId: "revokeKey",
  tags: ["keys"],
  summary: "Revoke any key",
  description: "Idempotent: revoking again answers 200 with the time of the first.",
  security: [{ adminToken: [] }],
  request: { params: z.object({ id: keyIdInput }) },
  responses: {
    200: {
      description: "The key is refused from now on.",
      content: { "application/json": { schema: RevokedKey } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "forbidden",
      "key_not_found",
      "internal_error",
      "database_unavailable",
      "chain_not_found",
    ),
  },
});

export const meRoute = createRoute({
  method: "get",
  path: "/api/v1/auth/me",
  operationId: "getMe",
  tags: ["keys"],
  summary: "Whose key this is",
  security: [{ apiKey: [] }],
  responses: {
    200: { description: "The key's holder.", content: { "application/json": { schema: Me } } },
    ...failures("unauthenticated", "internal_error", "database_unavailable"),
  },
});
