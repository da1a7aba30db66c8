import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import {
  Address,
  addressInput,
  nullableDecimal,
  nullableTimestamp,
  rowIdInput,
  Timestamp,
} from "../http/field-types.ts";
import { HashPrefix, KeyId, keyLimitFields, Label, Tier } from "../http/key-schemas.ts";
import { ownList, ownListQuery, ownListResponses } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { IssuedKey, keyLimitInputs, labelInput, RevokedKey } from "./schemas.ts";

const GenerateKey = requestObject({
  wallet: addressInput.openapi({
    description: "The wallet that the key belongs to and may buy for.",
  }),
  label: labelInput,
  tier: Tier.default("free"),
  ...keyLimitInputs,
}).openapi("GenerateKey");

const Me = z
  .object({
    ok: z.literal(true),
    wallet: Address,
    tier: Tier,
    keyId: KeyId,
    ...keyLimitFields,
    premiumLeftToday: nullableDecimal(
      "What the key may still spend on premiums in this UTC day, USDC base units; null without a limit per day.",
      "47400000",
    ),
  })
  .openapi("Me");

export const generateKeyRoute = createRoute({
  method: "post",
  path: "/api/v1/keys/generate",
  operationId: "generateKey",
  tags: ["keys"],
  summary: "Issue a key",
  description:
    "Each call makes a new key, which is shown only in this response. A wallet has at most three active keys, whoever issued them. A key without limits may do everything; limits are never changed: to change them, issue another key.",
  security: [{ adminToken: [] }],
  request: { body: { required: true, content: { "application/json": { schema: GenerateKey } } } },
  responses: {
    201: { description: "The new key.", content: { "application/json": { schema: IssuedKey } } },
    ...failures(
      "validation_error",
      "unauthenticated",
      "forbidden",
      "cap_reached",
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
  description: "Idempotent: revoking again returns the time of the first call.",
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
  summary: "Get the wallet and the limits of the key",
  security: [{ apiKey: [] }],
  responses: {
    200: {
      description: "The wallet, tier, id and limits of the key.",
      content: { "application/json": { schema: Me } },
    },
    ...failures("unauthenticated", "internal_error", "database_unavailable"),
  },
});

const ApiKey = z
  .object({
    keyId: KeyId,
    label: Label,
    tier: Tier,
    ...keyLimitFields,
    createdAt: Timestamp,
    lastUsedAt: nullableTimestamp("Accurate to the minute; null if never used.", "2026-01-01T00:00:00.000Z"),
    revokedAt: nullableTimestamp("Null: a revoked key is not listed."),
    hashPrefix: HashPrefix,
    current: z.boolean().openapi({ description: "Whether this request uses the key.", example: true }),
  })
  .openapi("ApiKey");

export const listKeysRoute = createRoute({
  method: "get",
  path: "/api/v1/agent/keys",
  operationId: "listKeys",
  tags: ["keys"],
  summary: "List the wallet's keys",
  description: "Active keys, oldest first. The keys themselves cannot be read again.",
  security: [{ apiKey: [] }],
  request: { query: ownListQuery },
  responses: ownListResponses(
    ownList("Keys", "Active keys", { keys: z.array(ApiKey) }).openapi("ApiKeyList"),
  ),
});

export const revokeOwnKeyRoute = createRoute({
  method: "delete",
  path: "/api/v1/agent/keys/{keyId}",
  operationId: "revokeOwnKey",
  tags: ["keys"],
  summary: "Revoke one of the wallet's keys",
  description:
    "The key is refused from now on; it may be the key of this request. A key with limits revokes only itself. A purchase that was signed before continues; one that was only accepted fails with `unauthenticated`. Idempotent: revoking again returns the time of the first call. Another wallet's key is 404.",
  security: [{ apiKey: [] }],
  request: { params: z.object({ keyId: rowIdInput }) },
  responses: {
    200: {
      description: "The key is refused from now on.",
      content: { "application/json": { schema: RevokedKey } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
      "key_not_found",
      "internal_error",
      "database_unavailable",
    ),
  },
});
