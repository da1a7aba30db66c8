import { z } from "@hono/zod-openapi";
import { Address, addressInput, nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { HashPrefix, KeyId, Label, Tier } from "../http/key-schemas.ts";
import { cursorField, cutPage, limitInput, pageFields, rowCursor } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { adminOnly, adminPage } from "./failures.ts";
import type { KeyRecord } from "./key-queries.ts";

const AnyKey = z
  .object({
    keyId: KeyId,
    hashPrefix: HashPrefix,
    wallet: Address,
    tier: Tier,
    label: Label,
    createdAt: Timestamp,
    lastUsedAt: nullableTimestamp("Accurate to the minute; null if never used.", "2026-01-01T00:00:00.000Z"),
    revokedAt: nullableTimestamp("Null while the key is accepted."),
  })
  .openapi("AnyKey");

const AnyKeyList = z
  .object({
    count: pageFields.count,
    limit: pageFields.limit,
    nextCursor: cursorField,
    keys: z.array(AnyKey),
  })
  .openapi("AnyKeyList");

export const keysRoute = createRoute({
  method: "get",
  path: "/api/v1/admin/keys",
  operationId: "listAllKeys",
  tags: ["admin"],
  summary: "List the keys of all wallets",
  description: "Newest first, with revoked ones. The keys themselves are not stored.",
  security: adminOnly,
  request: {
    query: requestObject({
      wallet: addressInput.optional().openapi({ description: "Only keys of this wallet." }),
      limit: limitInput(),
      cursor: rowCursor,
    }),
  },
  responses: adminPage(AnyKeyList),
});

/** `rows` has one key more than the page, unless the list ends there. */
export function keysBody(rows: readonly KeyRecord[], limit: number): z.infer<typeof AnyKeyList> {
  const { rows: keys, next } = cutPage(rows, limit, ({ keyId }) => String(keyId));
  return {
    count: keys.length,
    limit,
    nextCursor: next,
    keys: keys.map(({ createdAt, lastUsedAt, revokedAt, ...key }) => ({
      ...key,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      revokedAt: revokedAt?.toISOString() ?? null,
    })),
  };
}
