import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { Timestamp } from "../http/field-types.ts";
import { ownPageResponses } from "../http/own-page.ts";
import { ownPage, ownPageQuery } from "../http/paging.ts";
import { rowIdInput } from "../keys/schemas.ts";
import { Delegation, NewDelegation, RecordedDelegation } from "./schemas.ts";

export const delegateRoute = createRoute({
  method: "post",
  path: "/api/v1/agent/delegations",
  operationId: "delegate",
  tags: ["agent"],
  summary: "Let another wallet's keys buy for a buyer, up to a cap",
  description:
    "For a key of the agent or of the buyer. A signed delegation is accepted once, also after it was revoked.",
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: NewDelegation } } } },
  responses: {
    201: {
      description: "The agent's keys may buy for the buyer from now on.",
      content: { "application/json": { schema: RecordedDelegation } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "invalid_signature",
      "forbidden",
      "signature_used",
      "payload_too_large",
      "unsupported_media_type",
      "internal_error",
      "health_contracts_incomplete",
      "chain_not_found",
      "database_unavailable",
      "verification_busy",
    ),
  },
});

export const listDelegationsRoute = createRoute({
  method: "get",
  path: "/api/v1/agent/delegations",
  operationId: "listDelegations",
  tags: ["agent"],
  summary: "The delegations in which the key's wallet is buyer or agent, newest first",
  security: [{ apiKey: [] }],
  request: { query: ownPageQuery },
  responses: ownPageResponses(
    ownPage("Delegations", "Delegations", { delegations: z.array(Delegation) }).openapi("DelegationList"),
  ),
});

export const revokeDelegationRoute = createRoute({
  method: "delete",
  path: "/api/v1/agent/delegations/{id}",
  operationId: "revokeDelegation",
  tags: ["agent"],
  summary: "Revoke a delegation",
  description:
    "For the buyer's keys; it does not exist for others. Nothing more is accepted under it; a purchase that was signed before goes on, and one that was only accepted fails with `buyer_not_authorized`. Idempotent: revoking again answers 200 with the time of the first.",
  security: [{ apiKey: [] }],
  request: { params: z.object({ id: rowIdInput }) },
  responses: {
    200: {
      description: "Nothing may be bought under it from now on.",
      content: {
        "application/json": {
          schema: z
            .object({
              ok: z.literal(true),
              delegationId: z.int().openapi({ example: 1 }),
              revokedAt: Timestamp,
            })
            .openapi("RevokedDelegation"),
        },
      },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "delegation_not_found",
      "internal_error",
      "database_unavailable",
    ),
  },
});
