import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { indexedBlockHeader } from "../index/documented-responses.ts";
import { indexerConditions } from "../index/status.ts";

const block = (description: string, example: string) => DecimalString.openapi({ description, example });

export const indexerHealthRoute = createRoute({
  method: "get",
  path: "/api/v1/indexer/health",
  operationId: "getIndexerHealth",
  tags: ["stats"],
  summary: "How far the index has come",
  description:
    "`syncing` until the chain's history is read, then `synced`, or `lagging` when more than 10 blocks behind the chain or when no indexer is at work. While `syncing` or `lagging`, read `/api/v1/public/policies/{wallet}` and `/api/v1/public/bonds/{wallet}`.",
  responses: {
    200: {
      description: "The index's position.",
      headers: indexedBlockHeader,
      content: {
        "application/json": {
          schema: z
            .object({
              status: z.enum(["synced", "lagging", "syncing"]),
              condition: z.enum(indexerConditions).openapi({
                description:
                  "Why: `backfilling` history; `caught_up`; `quiet`, which is caught up with a chain that has had no block for a minute; `behind` the chain; `down`, when the indexer gives no sign of life.",
              }),
              lastSyncedBlock: block(
                "Newest block that reads see; 0 while there is nothing to read.",
                "1234",
              ),
              headBlock: block("Newest block of the chain.", "1234"),
              lagBlocks: block("The difference.", "0"),
              headTimestamp: UnixSeconds.openapi({
                description: "Time of the chain's newest block, Unix seconds.",
              }),
              heartbeatAt: nullableDecimal(
                "The indexer's newest sign of life, Unix seconds; it gives one every two seconds. Null before its first.",
                "1767225600",
              ),
            })
            .openapi("IndexerHealth"),
        },
      },
    },
    ...failures("internal_error", "database_unavailable", "indexer_unavailable", "chain_not_found"),
  },
});
