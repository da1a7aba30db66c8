/** The limits of this API by name. Each is a counter of its own: a client that exceeds one may still use the others. */
import { Redis } from "ioredis";
import type { ApiConfig } from "../../lib/config.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { createLimiter, type Limiter } from "./limiter.ts";

/** How long a count in Redis may take before the process counts by itself, in ms. */
const REDIS_TIMEOUT_MS = 250;

export type Limits = {
  /** Reads that need no credential. */
  readonly publicReads: Limiter;
  /** Scans of the chain, which cost a hundred times as much. They do not count as public reads too. */
  readonly liveScans: Limiter;
  /** Keys that were refused. */
  readonly failedKeys: Limiter;
  /** Admin tokens that were refused; apart from the keys, so that a client's old key never locks the operator out. */
  readonly failedAdminTokens: Limiter;
};

export type OpenLimits = Limits & { close(): void };

/** A connection that never makes a request wait for a server that is away. */
function connectRedis(url: string): Redis {
  const redis = new Redis(url, {
    commandTimeout: REDIS_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 100, 2000),
  });
  redis.on("error", () => {}); // told where a count fails
  return redis;
}

/** Opens the limits. It waits for nothing: while Redis is away, each process counts by itself. */
export function openLimits(
  config: Pick<
    ApiConfig,
    "REDIS_URL" | "PUBLIC_RATE_LIMIT" | "LIVE_SCAN_RATE_LIMIT" | "FAILED_CREDENTIALS_LIMIT"
  >,
  log: Logger,
): OpenLimits {
  const redis = config.REDIS_URL === undefined ? undefined : connectRedis(config.REDIS_URL);
  const onRedisError = (error: unknown) =>
    log.warn({ err: errorText(error) }, "Redis is away: this process counts requests by itself");
  const limiter = (name: string, limit: number) => createLimiter({ name, limit, redis, onRedisError });
  return {
    publicReads: limiter("public", config.PUBLIC_RATE_LIMIT),
    liveScans: limiter("scans", config.LIVE_SCAN_RATE_LIMIT),
    failedKeys: limiter("failed-keys", config.FAILED_CREDENTIALS_LIMIT),
    failedAdminTokens: limiter("failed-admin-tokens", config.FAILED_CREDENTIALS_LIMIT),
    close: () => redis?.disconnect(),
  };
}
