/** Every error code of the API with its HTTP status. */
export const errorStatus = {
  validation_error: 400,
  invalid_body: 400,
  invalid_request: 400,
  stale_timestamp: 400,
  unknown_product: 400,
  unauthenticated: 401,
  invalid_signature: 401,
  forbidden: 403,
  buyer_not_authorized: 403,
  buyer_mismatch: 403,
  insufficient_scope: 403,
  key_purchase_cap_exceeded: 403,
  not_authorized_relayer: 403,
  owner_mismatch: 403,
  product_not_allowed: 403,
  sandbox_cap_exceeded: 403,
  seller_mismatch: 403,
  not_found: 404,
  invalid_product: 404,
  policy_not_found: 404,
  key_not_found: 404,
  delegation_not_found: 404,
  delivery_not_found: 404,
  tx_not_found: 404,
  listing_not_found: 404,
  webhook_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  idempotency_conflict: 409,
  permit_in_flight: 409,
  cap_reached: 409,
  duplicate_listing: 409,
  duplicate_purchase: 409,
  duplicate_redemption: 409,
  event_reverted: 409,
  signature_used: 409,
  webhook_undeliverable: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  amount_mismatch: 422,
  epoch_mismatch: 422,
  event_missing: 422,
  holder_mismatch: 422,
  invalid_permit: 422,
  listing_id_mismatch: 422,
  premium_above_maximum: 422,
  price_mismatch: 422,
  product_inactive: 422,
  coverage_below_minimum: 422,
  coverage_above_maximum: 422,
  shield_paused: 422,
  tx_reverted: 422,
  rate_limit: 429,
  daily_cap_reached: 429,
  gas_budget_exceeded: 429,
  ip_rate_limited: 429,
  key_daily_cap_reached: 429,
  purchases_paused: 429,
  wallet_rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  contract_mismatch: 500,
  health_contracts_incomplete: 500,
  onchain_revert: 502,
  rpc_error: 502,
  chain_not_found: 503,
  claim_expired: 503,
  claim_pending: 503,
  contract_paused: 503,
  database_unavailable: 503,
  faucet_disabled: 503,
  indexer_syncing: 503,
  indexer_unavailable: 503,
  oracle_signer_disabled: 503,
  oracle_signer_unavailable: 503,
  oracle_stale: 503,
  out_of_eth: 503,
  purchase_expired: 503,
  purchase_pending: 503,
  purchases_stopped: 503,
  relayer_unauthorized: 503,
  relayer_unavailable: 503,
  scan_busy: 503,
  resolver_unavailable: 503,
  sandbox_disabled: 503,
  sandbox_unready: 503,
  sequencer_down: 503,
  test_pending: 503,
  verification_busy: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;
export type ErrorDetail = { path: string; message: string };

/** Seconds after which a client should try again, sent with every 503: the API specification says 30. */
export const RETRY_AFTER_SECONDS = 30;

/** An error with a documented response: a code, its status, and a message for the client. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly code: ErrorCode;
  readonly status: (typeof errorStatus)[ErrorCode];
  readonly details: readonly ErrorDetail[] | null;
  /** Seconds for the `Retry-After` header; null sends none. */
  readonly retryAfter: number | null;
  /** For a refused faucet claim: when the next one can be paid; otherwise null. */
  readonly nextEligibleAt: Date | null;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: readonly ErrorDetail[];
      retryAfter?: number;
      nextEligibleAt?: Date;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = errorStatus[code];
    this.details = options.details ?? null;
    this.nextEligibleAt = options.nextEligibleAt ?? null;
    this.retryAfter = options.retryAfter ?? (this.status === 503 ? RETRY_AFTER_SECONDS : null);
  }
}
