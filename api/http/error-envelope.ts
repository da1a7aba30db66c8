/** The error envelope, and its responses in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { type ApiError, type ErrorCode, errorStatus } from "../../lib/errors.ts";
import { shouldRetryHeader } from "./should-retry.ts";

const errorCode = (description: string) =>
  z.string().openapi({ description, enum: Object.keys(errorStatus), example: "validation_error" });

export const ErrorEnvelope = z
  .object({
    error: errorCode("Machine-readable code."),
    code: errorCode("The same code again."),
    message: z
      .string()
      .openapi({ description: "Explanation for people, with the decoded reason of a revert." }),
    details: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .nullable()
      .openapi({
        description: "Each invalid field and its error; null unless `validation_error` or `invalid_permit`.",
      }),
    nextEligibleAt: z.iso.datetime().optional().openapi({
      description:
        "When a refused faucet claim can be repeated, ISO 8601; only with `wallet_rate_limited`, `ip_rate_limited` and `daily_cap_reached`.",
    }),
  })
  .openapi("Error");

export type ErrorEnvelope = z.infer<typeof ErrorEnvelope>;

export function errorBody(
  error: Pick<ApiError, "code" | "message" | "details"> & Partial<Pick<ApiError, "nextEligibleAt">>,
): ErrorEnvelope {
  return {
    error: error.code,
    code: error.code,
    message: error.message,
    details: error.details ? [...error.details] : null,
    ...(error.nextEligibleAt && { nextEligibleAt: error.nextEligibleAt.toISOString() }),
  };
}

/** Errors with these codes name the invalid fields in `details`. */
const codesWithDetails: readonly ErrorCode[] = ["validation_error", "invalid_permit"];
/** Codes with a `Retry-After` beside those of 429 and 503. */
const codesWithRetry: readonly ErrorCode[] = ["sandbox_cap_exceeded", "permit_in_flight"];
/** The codes of the faucet's own limits. */
const faucetLimits: readonly ErrorCode[] = ["wallet_rate_limited", "ip_rate_limited", "daily_cap_reached"];
/** For examples. */
const EXAMPLE_TIME = new Date("2026-01-01T00:00:00.000Z");

/** The meaning of each code, for the OpenAPI document and its examples. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  validation_error: "The request's shape is wrong; `details` names the fields.",
  invalid_body: "The request's shape is wrong; `message` names the fields.",
  invalid_request:
    "The wallet is missing, not an address, or a contract of the protocol; `message` says which.",
  stale_timestamp:
    "The timestamp is more than 300 seconds from the server's time, or the signed message has expired or is not valid yet.",
  unknown_product: "No product has this name.",
  unauthenticated: "The credential is missing, malformed, unknown or revoked.",
  invalid_signature: "The signature is not by the wallet.",
  forbidden:
    "The key belongs to another wallet, or the operator must replace a default secret; `message` says which.",
  buyer_not_authorized:
    "The buyer is another wallet and has no delegation to the key's wallet, or too little of its cap is left for this premium.",
  buyer_mismatch: "The reported buyer is not the key's wallet, or bought nothing in the transaction.",
  insufficient_scope:
    "The key lacks the scope that this call needs, or it has limits and is to revoke another key.",
  key_purchase_cap_exceeded: "The premium exceeds the most that the key may spend on one purchase.",
  not_authorized_relayer: "The cover router refused the relayer.",
  owner_mismatch: "The reported owner is not the key's wallet.",
  product_not_allowed: "The key may not buy this product; `GET /api/v1/auth/me` lists those that it may.",
  sandbox_cap_exceeded:
    "The client address has used its sandbox calls of this hour; retry after `Retry-After`.",
  seller_mismatch: "The reported seller is not the key's wallet, or listed nothing in the transaction.",
  not_found: "There is no resource at this address.",
  invalid_product: "No product has this id.",
  policy_not_found: "There is no such policy.",
  key_not_found: "No key has this id.",
  delegation_not_found: "No delegation has this id.",
  delivery_not_found: "The webhook has no delivery with this id.",
  tx_not_found: "The chain's node knows no such transaction.",
  listing_not_found: "The marketplace has no listing with this id.",
  webhook_not_found: "The wallet has no webhook with this id.",
  method_not_allowed: "The address does not allow this method; `Allow` lists the allowed ones.",
  request_timeout: "The request did not arrive in time.",
  idempotency_conflict: "The idempotency key was used with another body.",
  permit_in_flight: "Another permit of the buyer is not mined yet; retry after `Retry-After`.",
  cap_reached:
    "The wallet has reached its limit: three active keys, twenty webhooks. Revoke or delete one first.",
  duplicate_listing: "The transaction's listing was recorded for another wallet or with other content.",
  duplicate_purchase: "The transaction's purchase was recorded for another wallet or with other content.",
  duplicate_redemption: "The transaction's redemption was recorded for another wallet or with other content.",
  event_reverted: "A reorganisation removed the event from the chain: it is not sent again.",
  signature_used: "The signature was used before: sign again with another timestamp or nonce.",
  webhook_undeliverable: "The webhook is undeliverable: re-enable it with `POST …/retry` first.",
  payload_too_large: "The body is larger than 64 KiB; of a message to `/mcp`, 32 KiB.",
  unsupported_media_type: "The body must be application/json.",
  amount_mismatch: "The event has another amount of bonds.",
  epoch_mismatch: "The event is of another bond.",
  event_missing: "The transaction has no such event of the protocol's contracts.",
  invalid_permit: "The permit would not set the allowance, or not enough of it; `message` has the reason.",
  holder_mismatch: "The transaction redeems bonds of another wallet.",
  listing_id_mismatch: "The transaction buys another listing.",
  premium_above_maximum: "The premium exceeds the request's `maxPremium`; `message` has it.",
  price_mismatch: "The reported event has another price, or the premium rose before the purchase was signed.",
  product_inactive: "The product is not sold.",
  coverage_below_minimum: "The coverage is below 100 USDC (100000000).",
  coverage_above_maximum:
    "The payout exceeds the vault's free capacity, or the coverage the router's maximum; `message` says which.",
  shield_paused: "The product is retired: of an earlier release, and no longer sold.",
  tx_reverted: "The transaction reverted; `message` has the contract's reason.",
  rate_limit: "Too many requests; retry after `Retry-After`.",
  daily_cap_reached: "All grants of this UTC day are given; retry after `Retry-After`.",
  wallet_rate_limited: "The wallet has claimed within 24 hours; retry after `Retry-After`.",
  ip_rate_limited:
    "The client address has claimed within 24 hours, or made five claims within ten minutes that would revert; retry after `Retry-After`.",
  key_daily_cap_reached:
    "The premium exceeds what is left of the key's premium for this UTC day; `Retry-After` is the end of the day.",
  gas_budget_exceeded:
    "The wallet's gas budget for this UTC day is spent; `Retry-After` is the end of the day.",
  purchases_paused:
    "Three of the buyer's purchases or permits reverted within an hour; purchases for it are paused for an hour.",
  headers_too_large: "The address or the headers are too long.",
  internal_error: "A fault of the service.",
  contract_mismatch:
    "A contract does not answer as its interface says: it is not of the release that the service speaks; `message` names it.",
  health_contracts_incomplete: "The deployment lacks the address of a contract; `message` names it.",
  onchain_revert: "The transaction reverted, or would revert; `message` has the reason.",
  rpc_error: "The chain's node answered with an error.",
  chain_not_found: "The chain's node does not answer.",
  claim_pending: "The claim is not settled yet; repeat it later to get its outcome.",
  claim_expired: "The grant was not signed in time. Nothing was sent, and the wallet may claim again.",
  contract_paused:
    "Sales are paused: by the router's owner, by the pause registry, or because the token's price is too low.",
  database_unavailable: "The database cannot be reached.",
  faucet_disabled: "There is no faucet, or the operator has stopped it.",
  indexer_syncing: "The indexer is still reading the chain's history.",
  indexer_unavailable: "No indexer has been started.",
  oracle_signer_disabled: "The service signs no prices.",
  oracle_signer_unavailable: "No writer has answered with a signed price.",
  oracle_stale:
    "The price feed's last answer is older than an hour, or the token's price oracle has no price.",
  out_of_eth: "The faucet has too little ether for a grant.",
  purchase_expired:
    "The purchase was not signed or not mined in time. It cannot be mined any more, and the buyer paid nothing.",
  purchase_pending: "The purchase is still in progress; `message` says where to get its outcome.",
  purchases_stopped: "The operator has stopped purchases.",
  relayer_unauthorized: "The relayer is not on the cover router's allowlist.",
  relayer_unavailable: "No relayer is running, or none can sign now; `message` says why.",
  scan_busy: "Too many live scans are running, or too many that the client address started.",
  resolver_unavailable: "The webhook's host name could not be resolved now.",
  sandbox_disabled: "There is no sandbox.",
  sandbox_unready: "The sandbox wallet lacks funds or an approval; `GET /sandbox/info` says why.",
  test_pending: "The test has no outcome yet; it will appear in the deliveries.",
  sequencer_down: "The chain's sequencer is down, or came back less than an hour ago.",
  verification_busy: "Too many signatures are being checked on the chain.",
};

const retryAfterHeader = {
  "Retry-After": {
    description: "Seconds to wait before the next attempt.",
    schema: { type: "integer" as const, minimum: 0 },
  },
};

const pendingLocationHeader = {
  Location: {
    description: "With `purchase_pending`: where the purchase can be read.",
    schema: { type: "string" as const },
  },
};

const headersOf = (status: number, group: readonly ErrorCode[]) => ({
  ...shouldRetryHeader,
  ...((status === 503 || status === 429 || group.some((code) => codesWithRetry.includes(code))) &&
    retryAfterHeader),
  ...(group.includes("purchase_pending") && pendingLocationHeader),
});

/**
 * The failures of a route for the OpenAPI document: one response per status, one example per code. `rate_limit` is always
 * included, because every route has a limit, and `contract_mismatch` for every route that reads the chain.
 */
export function failures(...codes: ErrorCode[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  const ofChain: ErrorCode[] = codes.includes("chain_not_found") ? ["contract_mismatch"] : [];
  for (const code of new Set<ErrorCode>(["rate_limit", ...codes, ...ofChain]))
    byStatus.set(errorStatus[code], [...(byStatus.get(errorStatus[code]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${meanings[code]}`).join("\n\n"),
        headers: headersOf(status, group),
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
                    details: codesWithDetails.includes(code)
                      ? [{ path: "field", message: "must be …" }]
                      : null,
                    nextEligibleAt: faucetLimits.includes(code) ? EXAMPLE_TIME : null,
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
