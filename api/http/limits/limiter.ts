/** A rate limit: at most `limit` requests per client and window, counted in Redis where configured. */
import type { Redis } from "ioredis";
import { type Count, type Counter, countInRedis, type Window } from "./counters.ts";

/** Pause after a Redis failure, in ms, so that a server that hangs does not delay every request. */
const REDIS_PAUSE_MS = 1000;

/** A client's use of its limit in the current window. */
export type RateLimitStatus = {
  /** The limit's name. */
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  readonly resetSeconds: number;
  /** True for a request above the limit. */
  readonly exceeded: boolean;
};

/** Rejects only when the fallback counter does; a counter in memory never does. */
export type Limiter = {
  readonly limit: number;
  readonly windowSeconds: number;
  /** Counts a request. */
  consume(client: string): Promise<RateLimitStatus>;
  /** Checks whether one more request would exceed the limit, without counting it. */
  peek(client: string): Promise<RateLimitStatus>;
};

export type LimiterOptions = {
  readonly window: Window;
  readonly redis: Redis | undefined;
  /** Counts without Redis, and while Redis is down: a limit is never switched off. */
  readonly fallback: Counter;
  /** Called once per pause with the error of the Redis that failed. */
  readonly onRedisError: (error: unknown) => void;
};

export function createLimiter({ window, redis, fallback, onRedisError }: LimiterOptions): Limiter {
  const { name, limit, seconds } = window;
  const shared = redis && countInRedis(window, redis);
  let pausedUntil = 0;

  async function withRedis<T>(counter: Counter, use: (counter: Counter) => Promise<T>): Promise<T> {
    try {
      return await use(counter);
    } catch (error) {
      if (performance.now() >= pausedUntil) onRedisError(error);
      pausedUntil = performance.now() + REDIS_PAUSE_MS;
      return use(fallback);
    }
  }

  const withCounter = <T>(use: (counter: Counter) => Promise<T>): Promise<T> =>
    !shared || performance.now() < pausedUntil ? use(fallback) : withRedis(shared, use);

  const statusOf = ({ used, msBeforeNext, exceeded }: Count): RateLimitStatus => ({
    name,
    limit,
    remaining: exceeded ? 0 : Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
    exceeded,
  });

  return {
    limit,
    windowSeconds: seconds,
    consume: async (client) => statusOf(await withCounter((counter) => counter.consume(client))),
    async peek(client) {
      const counted = await withCounter((counter) => counter.look(client));
      return statusOf(counted ?? { used: 0, msBeforeNext: seconds * 1000, exceeded: false });
    },
  };
}
