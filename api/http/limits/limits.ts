/** The rate limits of this API. Each has its own counter: a client that exceeds one may still use the others. */
import { Redis } from "ioredis";
import type pg from "pg";
import type { ApiConfig } from "../../../lib/config.ts";
import { errorText, type Logger } from "../../../lib/log.ts";
import type { KeyTier } from "../api-keys.ts";
import { countInMemory, countInPostgres, type Window } from "./counters.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import type { GuessLimits } from "./middleware.ts";

/**
 * How long a count in Redis may take before the fallback counts, in ms. An exact limit waits longer, because the
 * fallback starts from zero.
 */
const LOOSE_TIMEOUT_MS = 250;
const EXACT_TIMEOUT_MS = 1500;
/**
 * Refused admin tokens of all clients together per minute: fifty addresses at their own limit. A guesser with any number of
 * addresses gets no more, and locks the operator out only for as long as it goes on.
 */
const ALL_FAILED_ADMIN_TOKENS = 1000;
/**
 * Free keys of one address together read this many times as much as a client without a key: a company behind one address can use a
 * hundred of them to the full, and whoever makes more gains nothing.
 */
const FREE_KEYS_OF_ADDRESS = 10;
const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
/** Replays a day of one wallet to webhooks that are not verified. */
const UNVERIFIED_REPLAYS = 5;

export type Limits = {
  /** Reads without a credential, and requests that no route counts. */
  readonly publicReads: Limiter;
  /** Live scans of the chain, a hundred times as expensive; they do not count as public reads. */
  readonly liveScans: Limiter;
  /** Refused API keys. */
  readonly failedKeys: Limiter;
  /** Refused admin tokens; separate from keys, so that a client's old key never locks the operator out. */
  readonly failedAdminTokens: GuessLimits;
  /** Public reads with free keys, by address: an address makes any number of these keys itself. Only the operator issues paid ones. */
  readonly freeKeyReads: Limiter;
  /** Reads of its purchases by a key, by key id: waiting for a purchase does not use up the key's requests. */
  readonly purchaseReads: Limiter;
  /** Requests of a key, by key id; exact over all processes. */
  readonly keys: Readonly<Record<KeyTier, Limiter>>;
  /** Onboarding requests, successful or not; exact over all processes. */
  readonly onboardings: Limiter;
  /** Sandbox purchases of a client address; exact over all processes. */
  readonly sandbox: Limiter;
  /** Replays of a wallet to webhooks that are not verified; exact over all processes. */
  readonly unverifiedReplays: Limiter;
};

export type OpenLimits = Limits & { close(): void };

/** A connection that fails at once while Redis is down, instead of queueing commands. */
function connectRedis(url: string, commandTimeout: number): Redis {
  const redis = new Redis(url, {
    commandTimeout,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  redis.on("error", () => {}); // reported where a count fails
  return redis;
}

/**
 * Opens the limits without waiting for a connection. Without Redis, or while it is down, each process counts the loose
 * limits in memory, and the exact ones are counted in Postgres.
 */
export function openLimits(
  config: Pick<
    ApiConfig,
    | "REDIS_URL"
    | "PUBLIC_RATE_LIMIT"
    | "LIVE_SCAN_RATE_LIMIT"
    | "FAILED_CREDENTIALS_LIMIT"
    | "FREE_KEY_RATE_LIMIT"
    | "PAID_KEY_RATE_LIMIT"
    | "ONBOARD_RATE_LIMIT"
    | "SANDBOX_RATE_LIMIT"
  >,
  counts: pg.Pool,
  log: Logger,
): OpenLimits {
  const { REDIS_URL: url } = config;
  const looseRedis = url === undefined ? undefined : connectRedis(url, LOOSE_TIMEOUT_MS);
  const exactRedis = url === undefined ? undefined : connectRedis(url, EXACT_TIMEOUT_MS);
  const onRedisError = (error: unknown) =>
    log.warn({ err: errorText(error) }, "Redis is down: counting requests without it");
  const loose = (name: string, limit: number) => {
    const window: Window = { name, limit, seconds: MINUTE };
    return createLimiter({ window, redis: looseRedis, fallback: countInMemory(window), onRedisError });
  };
  const exact = (name: string, limit: number, seconds: number) => {
    const window: Window = { name, limit, seconds };
    return createLimiter({
      window,
      redis: exactRedis,
      fallback: countInPostgres(window, counts),
      onRedisError,
    });
  };
  return {
    publicReads: loose("public", config.PUBLIC_RATE_LIMIT),
    liveScans: loose("scans", config.LIVE_SCAN_RATE_LIMIT),
    freeKeyReads: loose("free-key-reads", FREE_KEYS_OF_ADDRESS * config.PUBLIC_RATE_LIMIT),
    purchaseReads: loose("purchase-reads", config.PUBLIC_RATE_LIMIT),
    failedKeys: loose("failed-keys", config.FAILED_CREDENTIALS_LIMIT),
    failedAdminTokens: {
      ofClient: loose("failed-admin-tokens", config.FAILED_CREDENTIALS_LIMIT),
      ofAll: loose("all-failed-admin-tokens", ALL_FAILED_ADMIN_TOKENS),
    },
    keys: {
      free: exact("free-keys", config.FREE_KEY_RATE_LIMIT, MINUTE),
      paid: exact("paid-keys", config.PAID_KEY_RATE_LIMIT, MINUTE),
    },
    onboardings: exact("onboardings", config.ONBOARD_RATE_LIMIT, HOUR),
    sandbox: exact("sandbox", config.SANDBOX_RATE_LIMIT, HOUR),
    unverifiedReplays: exact("unverified-replays", UNVERIFIED_REPLAYS, DAY),
    close() {
      looseRedis?.disconnect();
      exactRedis?.disconnect();
    },
  };
}
