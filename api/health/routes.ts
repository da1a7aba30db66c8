import { z } from "@hono/zod-openapi";
import { contractKeys, optionalContractKeys } from "../../lib/deployments.ts";
import { failures } from "../http/error-envelope.ts";
import { Address, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { createRoute } from "../http/route.ts";
import { indexedBlockHeader } from "../indexed/documented-responses.ts";
import { indexerConditions } from "../indexed/status.ts";

const relayerFields = z.object({
  address: Address,
  balanceWei: nullableDecimal("Balance in wei; null while the chain does not answer.", "1000000000000000000"),
});
const Relayer = relayerFields.openapi("Relayer");

const Contracts = z
  .object({
    ...Object.fromEntries(contractKeys.map((key) => [key, Address])),
    ...Object.fromEntries(optionalContractKeys.map((key) => [key, Address.optional()])),
    luminaToken: Address.openapi({
      description: "The same as `protocolToken`, for clients that know it by this name.",
    }),
  })
  .openapi("Contracts", {
    description:
      "The protocol's contracts. Read the addresses here instead of hardcoding them. `shieldKeeper` and `pauseRegistry` are absent on a chain without them.",
  });

export const Health = z
  .object({
    status: z.enum(["ok", "degraded"]),
    reasons: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .openapi({ description: "Reasons for `degraded`; empty for `ok`.", example: [] }),
    service: z.string().openapi({ example: "parametric-cover-service" }),
    version: z.string().openapi({ example: "0.1.0" }),
    release: z.string().openapi({ description: "Release of the protocol.", example: "V5.4" }),
    purchases: z.enum(["relayed", "prepared"]).openapi({
      description:
        "`relayed`: `POST /api/v1/policies` buys, and the service pays the gas. `prepared`: it has no wallet on the router's allowlist, and buyers send what `POST /api/v1/policies/prepare` prepares.",
      example: "relayed",
    }),
    uptimeSeconds: z.int().openapi({ description: "Seconds since this process started.", example: 3600 }),
    chain: z.object({
      chainId: z.int().openapi({ example: 8453 }),
      name: z.string().openapi({ example: "Base" }),
      block: nullableDecimal("Newest block; null while the chain does not answer.", "1234"),
      rpcConnected: z.boolean(),
      explorerUrl: z.string().nullable().openapi({
        description: "Block explorer; null for a chain without one.",
        example: "https://basescan.org",
      }),
    }),
    relayer: relayerFields.nullable().openapi({
      description: "The first of `relayers`; null if no writer is running.",
    }),
    relayers: z.array(Relayer).openapi({ description: "The wallets that running writers send from." }),
    keeper: relayerFields.nullable().openapi({
      description: "The wallet that triggers due policies; null if no running writer is a keeper.",
    }),
    webhooks: z
      .object({
        pending: z.int().openapi({ description: "Deliveries that are not made yet.", example: 0 }),
        oldestDueSeconds: z.number().nullable().openapi({
          description: "Seconds since the longest wait of a delivery became due; null while none is due.",
          example: null,
        }),
      })
      .nullable()
      .openapi({ description: "The deliveries of events; null while the database does not tell in time." }),
    contracts: Contracts,
  })
  .openapi("Health");

export type HealthBody = z.infer<typeof Health>;

export const healthRoute = createRoute({
  method: "get",
  path: "/health",
  operationId: "getHealth",
  tags: ["discovery"],
  summary: "Get health and contract addresses",
  description: "`degraded` is still 200: `reasons` says which parts do not work.",
  responses: {
    200: { description: "Contracts and health.", content: { "application/json": { schema: Health } } },
    ...failures("internal_error", "health_contracts_incomplete"),
  },
});

const block = (description: string, example: string) => DecimalString.openapi({ description, example });

export const indexerHealthRoute = createRoute({
  method: "get",
  path: "/api/v1/indexer/health",
  operationId: "getIndexerHealth",
  tags: ["discovery"],
  summary: "Get indexer health",
  description:
    "`syncing` while the chain's history is read and there is no indexed block to answer with, then `synced`, or `lagging` if the index is more than 10 blocks behind the chain, is catching up after a start, or no indexer is running. While `syncing` or `lagging`, read `/api/v1/public/policies/{wallet}` and `/api/v1/public/bonds/{wallet}`.",
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
                  "The reason of the status. `backfilling`: the indexer reads the chain's history; `catching_up`: the indexer has started anew, and until it has caught up, reads describe the last block before; `caught_up`; `quiet`: caught up, and the chain has had no block for a minute; `behind`: more than 10 blocks behind; `down`: no heartbeat of the indexer.",
                example: "caught_up",
              }),
              lastSyncedBlock: block("Newest indexed block; 0 before the first.", "1234"),
              headBlock: block("Newest block of the chain.", "1234"),
              lagBlocks: block("`headBlock` minus `lastSyncedBlock`.", "0"),
              headTimestamp: UnixSeconds.openapi({
                description: "Time of the chain's newest block, Unix seconds.",
              }),
              heartbeatAt: nullableDecimal(
                "The indexer's last heartbeat (every 2 s), Unix seconds; null before the first.",
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
