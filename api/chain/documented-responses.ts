/** The parts of the OpenAPI document that all live scans share. */
import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { addressInput } from "../http/field-types.ts";

export const walletParam = z.object({ wallet: addressInput });

const text = (description: string, example: string) => ({
  description,
  schema: { type: "string" as const, example },
});
const headers = {
  "x-chain-block": text(
    "The block that the whole response describes: the newest when the scan began.",
    "1234",
  ),
  "Cache-Control": text("Each response is a new scan.", "no-store"),
};

export const scanDescription =
  "The same data as the indexed list, read from the chain alone. Use it while the index is `syncing` or `lagging`. " +
  "The response describes one block. If it cannot be read in full within 20 seconds, the response is 503, never a shorter list. " +
  "At most four scans run at the same time, and at most two that one client address started; above that the response is 503 `scan_busy`. " +
  "Requests for one wallet share its running scan.";

export const scanResponses = <Body extends z.ZodType>(description: string, schema: Body) => ({
  200: { description, headers, content: { "application/json": { schema } } },
  ...failures(
    "validation_error",
    "internal_error",
    "health_contracts_incomplete",
    "chain_not_found",
    "scan_busy",
  ),
});
