import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { Address, addressInput } from "../http/field-types.ts";
import { IssuedKey, KeyId, labelInput, RevokedKey, rowIdInput, Tier } from "./schemas.ts";

const GenerateKey = z
  .object({
    wallet: addressInput.openapi({
      description: "The wallet that the key belongs to, and that it may buy for.",
    }),
    label: labelInput,
    tier: Tier.default("free"),
  })
  .openapi("GenerateKey");

const Me = z.object({ ok: z.literal(true), wallet: Address, tier: Tier, keyId: KeyId }).openapi("Me");

export const generateKeyRoute = createRoute({
  method: "post",
  path: "/api/v1/keys/generate",
  operationId: "generateKey",
  tags: ["keys"],
  summary: "Issue a key to a wallet",
  description:
    "Each call makes another key. The plaintext is in this answer and nowhere else. The operator may issue a wallet more than three keys; they count when it onboards by itself.",
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
  request: { params: z.object({ id: rowIdInput }) },
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
