import { createRoute, z } from "@hono/zod-openapi";
import { activityTypes } from "../../ponder.schema.ts";
import { Address, Bytes32, DecimalString, UnixSeconds } from "../schemas/basics.ts";
import { failures } from "../schemas/error.ts";
import { indexedBlockHeader } from "./policies.routes.ts";

const block = (description: string, example: string) => DecimalString.openapi({ description, example });

export const indexerHealthRoute = createRoute({
  method: "get",
  path: "/api/v1/indexer/health",
  operationId: "getIndexerHealth",
  tags: ["stats"],
  summary: "How far the index has come",
  description:
    "`syncing` until the chain's history is read, then `synced`, or `lagging` when more than 10 blocks behind the chain.",
  responses: {
    200: {
      description: "The index's position.",
      content: {
        "application/json": {
          schema: z
            .object({
              status: z.enum(["synced", "lagging", "syncing"]),
              lastSyncedBlock: block(
                "Newest block that reads see; 0 while there is nothing to read.",
                "1234",
              ),
              headBlock: block("Newest block of the chain.", "1234"),
              lagBlocks: block("The difference.", "0"),
            })
            .openapi("IndexerHealth"),
        },
      },
    },
    ...failures("internal_error", "database_unavailable", "indexer_unavailable", "chain_not_found"),
  },
});

const Activity = z
  .object({
    type: z.enum(activityTypes),
    actor: Address.openapi({
      description: "Buyer of the policy or listing, holder of the bond, or whose tokens were burned.",
    }),
    amount: DecimalString.openapi({
      description:
        "`policy_purchased`: coverage (USDC, 6 decimals); `bond_minted`, `bond_redeemed`: whole dollars; `marketplace_buy`: price (USDC); `token_burned`: tokens (18 decimals).",
    }),
    ref: z.string().openapi({
      description: "`productId:policyId`, the bond's epoch, the listing's id, or the burn's source.",
      example: "1",
    }),
    tx_hash: Bytes32,
    block_number: block("Block of the event.", "1234"),
    block_timestamp: UnixSeconds,
  })
  .openapi("Activity");

export const activityRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/activity",
  operationId: "getActivity",
  tags: ["stats"],
  summary: "The unified feed",
  responses: {
    200: {
      description: "At most 100 events, newest first.",
      headers: indexedBlockHeader,
      content: {
        "application/json": {
          schema: z
            .object({ events: z.array(Activity), count: z.int().openapi({ example: 1 }) })
            .openapi("ActivityFeed"),
        },
      },
    },
    ...failures("internal_error", "database_unavailable", "indexer_syncing", "indexer_unavailable"),
  },
});
