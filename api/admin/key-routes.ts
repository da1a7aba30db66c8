import { createRoute, z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { stopScopes } from "../../lib/ledger/stops.ts";
import { keyTiers } from "../http/api-keys.ts";
import { Address, addressInput, nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { cursorField, limitInput, rowCursor } from "../http/paging.ts";
import type { KeyRow } from "./key-queries.ts";
import { count, operatorResponses, operatorRoute, pageLimit } from "./responses.ts";

const OperatorKey = z
  .object({
    keyId: z.int().openapi({ description: "Id of the key.", example: 1 }),
    wallet: Address,
    label: z.string().nullable().openapi({ example: "trading bot" }),
    tier: z.enum(keyTiers).openapi({ description: "Determines the key's rate limit.", example: "free" }),
    hashPrefix: z
      .string()
      .regex(/^[0-9a-f]{8}$/)
      .openapi({ description: "First 8 hex digits of the key's SHA-256.", example: "3f1c8a90" }),
    createdAt: Timestamp,
    lastUsedAt: nullableTimestamp("Accurate to the minute; null if never used.", "2026-01-01T00:00:00.000Z"),
    revokedAt: nullableTimestamp("Null while the key is active."),
    stoppedBy: z.enum(stopScopes).nullable().openapi({
      description: "The widest stop that covers its purchases; null without one.",
      example: null,
    }),
  })
  .openapi("OperatorKey");

export const listAllKeysRoute = createRoute({
  ...operatorRoute,
  method: "get",
  path: "/api/v1/admin/keys",
  operationId: "listAllKeys",
  summary: "List the keys of all wallets",
  description:
    "Active and revoked keys, newest first. `DELETE /api/v1/keys/{id}` revokes one, `POST /api/v1/admin/stops` stops its purchases.",
  request: {
    query: z.object({
      wallet: addressInput.optional().openapi({ description: "Only the keys of this wallet." }),
      limit: limitInput(),
      cursor: rowCursor,
    }),
  },
  responses: operatorResponses(
    "One page.",
    z
      .object({ count, limit: pageLimit, nextCursor: cursorField, keys: z.array(OperatorKey) })
      .openapi("OperatorKeyList"),
    "validation_error",
  ),
});

export const operatorKeyBody = ({ wallet, createdAt, lastUsedAt, revokedAt, ...key }: KeyRow) => ({
  ...key,
  wallet: getAddress(wallet),
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  revokedAt: revokedAt?.toISOString() ?? null,
});
