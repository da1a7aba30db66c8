/** For routes with their own code for a bad body: the message names the fields, because only `validation_error` has `details`. */
import type { z } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { ApiError } from "../../lib/errors.ts";
import type { ApiEnv } from "./env.ts";
import { faultsOf } from "./request-object.ts";

type BodyCode = "invalid_body" | "invalid_request";

/** Refuses a body that is not JSON before the validator does, which would answer `validation_error`. */
export const refuseBrokenJson =
  (code: BodyCode): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    if (c.req.header("content-type")?.toLowerCase().includes("json")) {
      try {
        await c.req.json(); // Hono keeps the parsed body for the validator
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new ApiError(code, "The body is not valid JSON.", { cause: error });
      }
    }
    await next();
  };

/** The validation hook of such a route. */
export const onInvalidBody =
  (code: BodyCode) =>
  (result: { success: true } | { success: false; error: z.core.$ZodError }): undefined => {
    if (result.success) return undefined;
    const faults = faultsOf(result.error).map(
      ({ path, message }) => `${path.map(String).join(".") || "body"}: ${message}`,
    );
    throw new ApiError(code, `The body is not valid. ${faults.join("; ")}`);
  };
