/** The header `Idempotency-Key` of the routes that buy. */
import type { HttpBindings } from "@hono/node-server";
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../lib/errors.ts";

export const idempotencyKeyInput = z
  .string()
  .regex(/^[ -~]{1,128}$/, "must be 1 to 128 printable ASCII characters");

/**
 * Refuses a repeated header: Node joins the values into one key that the client did not choose.
 * @throws ApiError `validation_error`
 */
export function refuseRepeatedKey({ env }: { env: HttpBindings }): void {
  if ((env.incoming.headersDistinct["idempotency-key"]?.length ?? 0) <= 1) return;
  throw new ApiError("validation_error", "The request is not valid: Idempotency-Key", {
    details: [{ path: "Idempotency-Key", message: "must be sent once" }],
  });
}
