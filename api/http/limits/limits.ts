/** The limits of this API by name. Each is a counter of its own: a client that exceeds one may still use the others. */
import { Redis } from "ioredis";
import type postgres from "postgres";
import type { ApiConfig } from "../../../lib/config.ts";
import { errorText, type Logger } from "../../../lib/log.ts";
import type { KeyTier } from "../../keys/store.ts";
import { countInMemory, countInPostgres, type Window } from "./counters.ts";
import { createLimiter, type Limiter } from "./limiter.ts";

/**
 * How long a count in Redis may take before it is made without it, in ms; one that must be exact has more patience, for
 * elsewhere it begins anew.
 */
const LOOSE_TIMEOUT_MS = 250;
const EXACT_TIMEOUT_MS = 1500;
const MINUTE = 60;
const HOUR = 3600;

export type Limits = {
  /** Reads that need no credential. */
  readonly publicReads: Limiter;
  /** Scans of the chain, which cost a hundred times as much. They do not count as public reads too. */
  readonly liveScans: Limiter;
  /** Keys that were refused. */
  readonly failedKeys: Limiter;
  /** Admin tokens that were refused; apart from the keys, so that a client's old key never locks the operator out. */
  readonly failedAdminTokens: Limiter;
  /** Requests of a key, by the key's number; exact over all processes, as is the next one. */
  readonly keys: Readonly<Record<KeyTier, Limiter>>;
  /** Requests for a key, whatever comes of them. */
  readonly onboardings: Limiter;
  /** Purchases of the sandbox that an address asks for; exact. */
  readonly sandbox: Limiter;
};

export type OpenLimits = Limits & { close(): void };

/** A connection that never makes a request wait for a server that is away. */
function connectRedis(url: string, commandTimeout: number): Redis {
  const redis = new Redis(url, {
    commandTimeout,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  redis.on("error", () => {}); // told where a count fails
  return redis;
}

/**
 * Opens the limits. It waits for nothing. While Redis is away, or where there is none, each process counts by itself
 * what costs little, and all of them count in Postgres (`sql`) what must be exact.
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
  sql: postgres.Sql,
  log: Logger,
): OpenLimits {
  const { REDIS_URL: url } = config;
  const quick = url === undefined ? undefined : connectRedis(url, LOOSE_TIMEOUT_MS);
  const patient = url === undefined ? undefined : connectRedis(url, EXACT_TIMEOUT_MS);
  const onRedisError = (error: unknown) =>
    log.warn({ err: errorText(error) }, "Redis is away: requests are counted without it");
  const loose = (name: string, limit: number) => {
    const window: Window = { name, limit, seconds: MINUTE };
    return createLimiter({ window, redis: quick, own: countInMemory(window), onRedisError });
  };
  const exact = (name: string, limit: number, seconds: number) => {
    const window: Window = { name, limit, seconds };
    return createLimiter({ window, redis: patient, own: countInPostgres(window, sql), onRedisError });
  };
  return {
    publicReads: loose("public", config.PUBLIC_RATE_LIMIT),
    liveScans: loose("scans", config.LIVE_SCAN_RATE_LIMIT),
    failedKeys: loose("failed-keys", config.FAILED_CREDENTIALS_LIMIT),
    failedAdminTokens: loose("failed-admin-tokens", config.FAILED_CREDENTIALS_LIMIT),
    keys: {
      free: exact("free-keys", config.FREE_KEY_RATE_LIMIT, MINUTE),
      paid: exact("paid-keys", config.PAID_KEY_RATE_LIMIT, MINUTE),
    },
    onboardings: exact("onboardings", config.ONBOARD_RATE_LIMIT, HOUR),
    sandbox: exact("sandbox", config.SANDBOX_RATE_LIMIT, HOUR),
    close() {
      quick?.disconnect();
      patient?.disconnect();
    },
  };
}
