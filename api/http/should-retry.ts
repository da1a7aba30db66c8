/** The header `x-should-retry` of every failure: whether the same call may be sent again. */
import type { ErrorCode } from "../../lib/errors.ts";

export const SHOULD_RETRY = "x-should-retry";

/** Codes of 4xx after which the same call may succeed later. So may every 429. */
const passing: ReadonlySet<string> = new Set<ErrorCode>(["request_timeout", "sandbox_cap_exceeded"]);

/** Codes of 5xx that the same call would get again, or after which the call has had its effect. */
const lasting: ReadonlySet<string> = new Set<ErrorCode>([
  "onchain_revert",
  "contract_mismatch",
  "health_contracts_incomplete",
  "faucet_disabled",
  "oracle_signer_disabled",
  "sandbox_disabled",
  "test_pending",
]);

/** Codes after which nobody knows whether the call had its effect. */
const inDoubt: ReadonlySet<string> = new Set<ErrorCode>(["internal_error", "database_unavailable"]);

/** Calls that have an effect of their own each time: another key, webhook, secret, test event. */
export const hasEffectEachTime =
  /^\/api\/v1\/(keys\/generate|webhooks|webhooks\/[^/]+\/(rotate-secret|test))$/;

/** Whether a call that failed may be sent again: a repetition does no harm, and may succeed later. */
export function shouldRetry(
  { code, status }: { readonly code: string; readonly status: number },
  call: { readonly method: string; readonly path: string },
): boolean {
  if (status === 429 || passing.has(code)) return true;
  if (status < 500 || lasting.has(code)) return false;
  return !(inDoubt.has(code) && call.method === "POST" && hasEffectEachTime.test(call.path));
}

/** For the OpenAPI document. */
export const shouldRetryHeader = {
  [SHOULD_RETRY]: {
    description: "`true`: the same call may be sent again later, does no harm and may succeed; else `false`.",
    schema: { type: "string" as const, enum: ["true", "false"] },
  },
};
