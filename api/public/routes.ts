/** The fallbacks for clients while the index is syncing or lags: the same data by a scan of the chain. */
import { createRoute, z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { BondList, bondPageQuery } from "../bonds/routes.ts";
import { failures } from "../http/error-envelope.ts";
import { addressInput } from "../http/field-types.ts";
import { PolicyList, policyPageQuery } from "../policies/routes.ts";

const walletParam = z.object({ wallet: addressInput });

const text = (description: string, example: string) => ({
  description,
  schema: { type: "string" as const, example },
});
const headers = {
  "x-chain-block": text(
    "The block as of which the whole answer is true: the newest when the scan began.",
    "1234",
  ),
  "Cache-Control": text("Each answer is a scan of its own.", "no-store"),
};

const description =
  "The same as the indexed list, from the chain alone: for while the index is `syncing` or `lagging`. " +
  "All of it is of one block. What cannot be read in full within 20 seconds is 503, never a shorter list; " +
  "at most four scans run at once.";

const codes: ErrorCode[] = [
  "validation_error",
  "internal_error",
  "health_contracts_incomplete",
  "chain_not_found",
  "scan_busy",
];

const liveResponses = <Body extends z.ZodType>(summary: string, schema: Body) => ({
  200: { description: summary, headers, content: { "application/json": { schema } } },
  ...failures(...codes),
});

export const livePoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/public/policies/{wallet}",
  operationId: "scanPolicies",
  tags: ["stats", "policies"],
  summary: "A buyer's policies by a live scan of the chain, newest first",
  description,
  request: { params: walletParam, query: policyPageQuery },
  responses: liveResponses(
    "One page; statuses are those at the block's time, and `source` is `chain`.",
    PolicyList,
  ),
});

export const liveBondsRoute = createRoute({
  method: "get",
  path: "/api/v1/public/bonds/{wallet}",
  operationId: "scanBonds",
  tags: ["stats", "bonds"],
  summary: "What an address holds of each bond, by a live scan of the chain",
  description,
  request: { params: walletParam, query: bondPageQuery },
  responses: liveResponses("Epochs with a balance above zero, the next to mature first.", BondList),
});
