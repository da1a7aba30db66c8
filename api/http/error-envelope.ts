/** The one error envelope, and the answers that carry it in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { type ApiError, type ErrorCode, errorStatus } from "../../lib/errors.ts";

export const ErrorEnvelope = z
  .object({
    error: z.string().openapi({ description: "Machine-readable code.", example: "validation_error" }),
    code: z.string().openapi({ description: "The same code again.", example: "validation_error" }),
    message: z.string().openapi({ description: "Words for people. A revert's decoded reason stands here." }),
    details: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .nullable()
      .openapi({ description: "What is wrong with each field; only with `validation_error`." }),
  })
  .openapi("Error");

export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

export function errorBody(error: Pick<ApiError, "code" | "message" | "details">): ErrorEnvelope {
  return {
    error: error.code,
    code: error.code,
    message: error.message,
    details: error.details ? [...error.details] : null,
  };
}

/** A sentence for each code, as the OpenAPI document and its examples tell it. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  validation_error: "The request's shape is wrong; `details` names the fields.",
  invalid_body: "The request's shape is wrong; `message` names the fields.",
  invalid_request: "The field `wallet` is missing or no address; `message` says which.",
  stale_timestamp: "The timestamp is more than 300 seconds from the server's time.",
  unknown_product: "No product has this name.",
  unauthenticated: "The credential is missing, malformed, unknown or revoked.",
  invalid_signature: "The signature is not the wallet's.",
  forbidden: "Not allowed.",
  buyer_not_authorized: "The buyer is another wallet, which has not delegated so much to the key's wallet.",
  not_authorized_relayer: "The cover router refused the relayer.",
  sandbox_cap_exceeded:
    "The client address has made its sandbox calls of this hour; `Retry-After` says when it ends.",
  not_found: "Nothing has this address.",
  invalid_product: "No product has this id.",
  policy_not_found: "No policy has this key.",
  key_not_found: "No key has this id.",
  delegation_not_found: "No delegation has this id.",
  delivery_not_found: "The webhook has no delivery with this id.",
  webhook_not_found: "The wallet has no webhook with this id.",
  method_not_allowed: "The address does not take this method; `Allow` names those it takes.",
  request_timeout: "The request did not arrive in time.",
  idempotency_conflict: "The idempotency key was used with another body.",
  cap_reached: "The wallet has as many as it may: three active keys, twenty webhooks. Give one up first.",
  event_reverted: "The event was taken off the chain by a reorganisation: it is not sent again.",
  signature_used: "The signature was used before: sign anew.",
  webhook_undeliverable: "The webhook is undeliverable: re-enable it with its `retry` first.",
  payload_too_large: "The body is larger than 1 MiB.",
  unsupported_media_type: "The body must be application/json.",
  product_inactive: "The product is not sold.",
  coverage_below_minimum: "The coverage is below 100 USDC (100000000).",
  coverage_above_maximum: "The payout exceeds the vault's free capacity.",
  shield_paused: "The entry of an earlier release is paused.",
  rate_limit: "Too many requests; `Retry-After` says when to come back.",
  daily_cap_reached: "The faucet has given all grants of the UTC day; `Retry-After` says when it ends.",
  wallet_rate_limited: "The wallet has claimed within 24 hours; `Retry-After` says when it may again.",
  ip_rate_limited:
    "The client address has claimed within 24 hours, or too often for transfers that would revert; `Retry-After` says when it may again.",
  gas_budget_exceeded: "The gas that may be spent today is spent; `Retry-After` says when the day ends.",
  purchases_paused: "Three of the wallet's purchases reverted within an hour; it rests for an hour.",
  headers_too_large: "The address or the headers are too long.",
  internal_error: "A fault of the service.",
  health_contracts_incomplete: "The deployment lacks the address of a contract; `message` names it.",
  onchain_revert: "The transaction reverted, or would; the reason stands in `message`.",
  chain_not_found: "The chain's node does not answer.",
  claim_pending: "The claim is not settled yet; the same claim again, later, tells its outcome.",
  claim_expired: "The grant was not signed in time. Nothing was sent, and the wallet may claim again.",
  contract_paused: "The cover router or the whole protocol is paused.",
  database_unavailable: "The database cannot be reached.",
  faucet_disabled: "There is no faucet, or the operator has stopped it.",
  indexer_syncing: "The indexer still reads the chain's history.",
  indexer_unavailable: "No indexer has been started.",
  oracle_stale: "The price feed is older than an hour.",
  out_of_eth: "The faucet lacks the ether for a grant.",
  purchase_expired:
    "The purchase was not signed or not mined in time, can be no more, and has taken nothing from the buyer.",
  purchase_pending: "The purchase is still on its way; `message` says how to learn its outcome.",
  purchases_stopped: "The operator has stopped purchases.",
  relayer_unauthorized: "The relayer is not on the cover router's allowlist.",
  relayer_unavailable: "No relayer is at work, or none may sign now; `message` says why.",
  scan_busy: "As many scans of the chain run as may at once.",
  resolver_unavailable: "The webhook's host could not be looked up now.",
  sandbox_disabled: "There is no sandbox wallet.",
  sandbox_unready: "The sandbox wallet lacks funds or approval for now; `GET /sandbox/info` says why.",
  test_pending: "The writer has not made the test call in time; its outcome will stand among the deliveries.",
  sequencer_down: "The chain's sequencer is down, or came back less than an hour ago.",
  verification_busy: "As many signatures are checked on the chain as may at once.",
};

const retryAfterHeader = {
  "Retry-After": {
    description: "Seconds to wait before the next try.",
    schema: { type: "integer" as const, minimum: 0 },
  },
};

/** Only with the code that names it. */
const pendingLocationHeader = {
  Location: {
    description: "With `purchase_pending`: where the purchase can be read.",
    schema: { type: "string" as const },
  },
};

const headersOf = (status: number, group: readonly ErrorCode[]) =>
  status === 503 || status === 429 || group.includes("sandbox_cap_exceeded")
    ? { headers: { ...retryAfterHeader, ...(group.includes("purchase_pending") && pendingLocationHeader) } }
    : {};

/**
 * The failures of one route for its OpenAPI description: one answer per status, one example per code. Every route has a
 * limit, so that `rate_limit` is always among them.
 */
export function failures(...codes: ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set<ErrorCode>(["rate_limit", ...codes]))
    byStatus.set(errorStatus[code], [...(byStatus.get(errorStatus[code]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${meanings[code]}`).join("\n\n"),
        ...headersOf(status, group),
        content: {
          "application/json": {
            schema: ErrorEnvelope,
            examples: Object.fromEntries(
              group.map((code) => [
                code,
                {
                  value: errorBody({
                    code,
                    message: meanings[code],
                    details: code === "validation_error" ? [{ path: "field", message: "must be …" }] : null,
                  }),
                },
              ]),
            ),
          },
        },
      },
    ]),
  );
}
