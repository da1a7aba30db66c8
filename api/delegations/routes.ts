import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { rowIdInput, Timestamp } from "../http/field-types.ts";
import { ownList, ownListQuery, ownListResponses } from "../http/paging.ts";
import { createRoute } from "../http/route.ts";
import { Delegation, NewDelegation, RecordedDelegation } from "./schemas.ts";

export const delegateRoute = createRoute({
  method: "post",
  path: "/api/v1/agent/delegations",
  operationId: "delegate",
  tags: ["delegations"],
  summary: "Create a delegation",
  description:
    "Lets the agent's keys spend premiums of the buyer, up to a cap. For keys of the agent or the buyer. A signed delegation is accepted once, even if it was revoked.",
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
      "insufficient_scope",
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
  tags: ["delegations"],
  summary: "List the wallet's delegations",
  security: [{ apiKey: [] }],
  request: { query: ownListQuery },
  responses: ownListResponses(
    ownList("Delegations", "Delegations", { delegations: z.array(Delegation) }).openapi("DelegationList"),
  ),
});

export const revokeDelegationRoute = createRoute({
  method: "delete",
  path: "/api/v1/agent/delegations/{id}",
  operationId: "revokeDelegation",
  tags: ["delegations"],
  summary: "Revoke a delegation",
  description:
    "For the buyer's keys; 404 for others. No further purchase is accepted under it. A purchase that was signed before continues; one that was only accepted fails with `buyer_not_authorized`. Idempotent: revoking again returns the time of the first call.",
  security: [{ apiKey: [] }],
  request: { params: z.object({ id: rowIdInput }) },
  responses: {
    200: {
      description: "No purchase is accepted under it from now on.",
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
      "insufficient_scope",
      "delegation_not_found",
      "internal_error",
      "database_unavailable",
    ),
  },
});
