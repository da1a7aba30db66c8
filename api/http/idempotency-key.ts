/** The header `Idempotency-Key` of the routes that buy. */
import type { HttpBindings } from "@hono/node-server";
import { z } from "@hono/zod-openapi";
import { ApiError } from "../../lib/errors.ts";

export const idempotencyKeyInput = z
  .string()
  .regex(/^[ -~]{1,128}$/, "must be 1 to 128 printable ASCII characters");

const invalidKey = (message: string) =>
  new ApiError("validation_error", "The request is not valid: Idempotency-Key", {
    details: [{ path: "Idempotency-Key", message }],
  });

/**
 * Refuses a repeated header: Node joins the values into one key that the client did not choose.
 * @throws ApiError `validation_error`
 */
export function refuseRepeatedKey({ env }: { env: HttpBindings }): void {
  if ((env.incoming.headersDistinct["idempotency-key"]?.length ?? 0) > 1)
    throw invalidKey("must be sent once");
}

/**
 * Refuses a call that does not wait and has no key. The caller learns the outcome from another endpoint, so a later call with
 * the same body cannot be told from a repetition: it would get this policy instead of a new one.
 * @throws ApiError `validation_error`
 */
export function requireKeyWithoutWaiting(idempotencyKey: string | null, waits: boolean): void {
  if (!waits && idempotencyKey === null) throw invalidKey("is required with Prefer: respond-async");
}
