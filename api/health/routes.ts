import { createRoute, z } from "@hono/zod-openapi";
import { contractKeys } from "../../lib/deployments.ts";
import { failures } from "../http/error-envelope.ts";
import { Address, nullableDecimal } from "../http/field-types.ts";

const relayerFields = z.object({
  address: Address,
  balanceWei: nullableDecimal(
    "Wei that it can pay gas with; null while the chain does not answer.",
    "1000000000000000000",
  ),
});
const Relayer = relayerFields.openapi("Relayer");

const Contracts = z
  .object(Object.fromEntries(contractKeys.map((key) => [key, Address])))
  .openapi("Contracts", { description: "The canonical contracts: use these addresses, hardcode none." });

export const Health = z
  .object({
    status: z.enum(["ok", "degraded"]),
    reasons: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .openapi({ description: "Why the status is `degraded`; empty when it is `ok`." }),
    service: z.string().openapi({ example: "parametric-cover-service" }),
    version: z.string().openapi({ example: "0.1.0" }),
    release: z.string().openapi({ description: "Release of the protocol.", example: "V5.4" }),
    uptimeSeconds: z.int().openapi({ description: "Seconds since this process started.", example: 3600 }),
    chain: z.object({
      chainId: z.int().openapi({ example: 8453 }),
      name: z.string().openapi({ example: "Base" }),
      block: nullableDecimal("Newest block; null while the chain does not answer.", "1234"),
      rpcConnected: z.boolean(),
      explorerUrl: z.string().nullable(),
    }),
    relayer: relayerFields.nullable().openapi({
      description: "The first of `relayers`; null when no writer is at work.",
    }),
    relayers: z.array(Relayer).openapi({ description: "The wallets that writers at work send from." }),
    contracts: Contracts,
  })
  .openapi("Health");

export type HealthBody = z.infer<typeof Health>;

export const healthRoute = createRoute({
  method: "get",
  path: "/health",
  operationId: "getHealth",
  tags: ["discovery"],
  summary: "The canonical contracts, and how the service is",
  description: "`degraded` still answers 200: what works, works. `reasons` says what does not.",
  responses: {
    200: { description: "Contracts and health.", content: { "application/json": { schema: Health } } },
    ...failures("internal_error", "health_contracts_incomplete"),
  },
});
