import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { ownPageResponses } from "../http/own-page.ts";
import { ownPage, ownPageQuery } from "../http/paging.ts";
import { KeyId, Label, RevokedKey, rowIdInput, Tier } from "./schemas.ts";

const ApiKey = z
  .object({
    keyId: KeyId,
    label: Label,
    tier: Tier,
    createdAt: Timestamp,
    lastUsedAt: nullableTimestamp("True to the minute; null for a key that was never used."),
    current: z.boolean().openapi({ description: "Whether this request was made with it." }),
  })
  .openapi("ApiKey");

export const listKeysRoute = createRoute({
  method: "get",
  path: "/api/v1/agent/keys",
  operationId: "listKeys",
  tags: ["agent", "keys"],
  summary: "The active keys of the key's wallet",
  description:
    "Oldest first; without the keys themselves, which nobody can read again, and without revoked ones.",
  security: [{ apiKey: [] }],
  request: { query: ownPageQuery },
  responses: ownPageResponses(
    ownPage("Keys", "Active keys", { keys: z.array(ApiKey) }).openapi("ApiKeyList"),
  ),
});

export const revokeOwnKeyRoute = createRoute({
  method: "delete",
  path: "/api/v1/agent/keys/{keyId}",
  operationId: "revokeOwnKey",
  tags: ["agent", "keys"],
  summary: "Revoke a key of one's own wallet",
  description:
    "Every process refuses it from now on, also when it is the key of this very request. Idempotent: revoking again answers 200 with the time of the first. Another wallet's key does not exist here.",
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
      "key_not_found",
      "internal_error",
      "database_unavailable",
    ),
  },
});
