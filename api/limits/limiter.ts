/** One limit: so many requests of each client in a minute, counted in this process or, for several, in Redis. */
import type { Redis } from "ioredis";
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from "rate-limiter-flexible";

/** The window of every limit in seconds. It begins with a client's first request and not with the clock's minute. */
export const WINDOW_SECONDS = 60;
/**
 * Clients that are remembered at once, about 0.5 kB each: addresses are cheap to make up, memory is not. Beyond that the
 * client whose window began first starts afresh.
 */
export const MAX_CLIENTS = 50_000;
/** After a failure Redis is left alone so long, in ms, for a server that hangs must not hold up every request. */
const REDIS_REST_MS = 1000;

/** Where a client stands in its window. */
export type Standing = {
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, 1 at least. */
  readonly resetSeconds: number;
  /** True for a request above the limit. */
  readonly exceeded: boolean;
};

export type Limiter = {
  /** Counts a request. Never rejects: without Redis the process counts by itself. */
  consume(client: string): Promise<Standing>;
  /** Tells whether a request would exceed the limit, and counts nothing. Never rejects. */
  peek(client: string): Promise<Standing>;
};

/** The library's counter in memory, which keeps every client for a minute, with a bound to their number. */
class BoundedMemory extends RateLimiterMemory {
  /** In the order in which their windows began; some may have ended. */
  readonly #clients = new Set<string>();

  override async consume(client: string): Promise<RateLimiterRes> {
    const counted = await settled(super.consume(client));
    if (counted.isFirstInDuration) this.#remember(client);
    return counted;
  }

  #remember(client: string): void {
    this.#clients.delete(client);
    this.#clients.add(client);
    if (this.#clients.size <= MAX_CLIENTS) return;
    for (const oldest of this.#clients) {
      this.#clients.delete(oldest);
      void this.delete(oldest);
      return;
    }
  }
}

/** The library rejects with the count of a request that exceeds the limit; here that is an outcome like the others. */
async function settled(count: Promise<RateLimiterRes>): Promise<RateLimiterRes> {
  try {
    return await count;
  } catch (error) {
    if (error instanceof RateLimiterRes) return error;
    throw error;
  }
}

export type LimiterOptions = {
  /** Names the limit's counters in Redis. */
  name: string;
  /** Requests of one client in a window. */
  limit: number;
  redis: Redis | undefined;
  /** Hears of a Redis that failed, once for each time that it is left alone. */
  onRedisError: (error: unknown) => void;
};

export function createLimiter({ name, limit, redis, onRedisError }: LimiterOptions): Limiter {
  const window = { points: limit, duration: WINDOW_SECONDS, keyPrefix: `cover:limit:${name}` };
  const memory = new BoundedMemory(window);
  const shared =
    redis && new RateLimiterRedis({ ...window, storeClient: redis, rejectIfRedisNotReady: true });
  let restUntil = 0;

  async function ask<T>(question: (limiter: RateLimiterAbstract) => Promise<T>): Promise<T> {
    if (!shared || performance.now() < restUntil) return question(memory);
    try {
      return await question(shared);
    } catch (error) {
      if (performance.now() >= restUntil) onRedisError(error);
      restUntil = performance.now() + REDIS_REST_MS;
      return question(memory);
    }
  }

  const standing = (used: number, msBeforeNext: number, exceeded: boolean): Standing => ({
    limit,
    remaining: Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
    exceeded,
  });

  return {
    async consume(client) {
      const { consumedPoints, msBeforeNext } = await ask((limiter) => settled(limiter.consume(client)));
      return standing(consumedPoints, msBeforeNext, consumedPoints > limit);
    },
    async peek(client) {
      const counted = await ask((limiter) => limiter.get(client));
      if (!counted || counted.msBeforeNext <= 0) return standing(0, WINDOW_SECONDS * 1000, false);
      return standing(counted.consumedPoints, counted.msBeforeNext, counted.consumedPoints >= limit);
    },
  };
}
