import type { z } from "@hono/zod-openapi";
import { failures } from "./error-envelope.ts";

/** The answers of a list of a wallet's own rows, for its keys alone. */
export const ownPageResponses = <Schema extends z.ZodType>(schema: Schema) => ({
  200: { description: "One page.", content: { "application/json": { schema } } },
  ...failures("validation_error", "unauthenticated", "internal_error", "database_unavailable"),
});
