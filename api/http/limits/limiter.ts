/** One limit: so many requests of each client in a window, counted in Redis where there is one. */
import type { Redis } from "ioredis";
import { type Count, type Counter, countInRedis, type Window } from "./counters.ts";

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

/** Each rejects only as the limit's own counter does, and one in memory never does. */
export type Limiter = {
  readonly limit: number;
  readonly windowSeconds: number;
  /** Counts a request. */
  consume(client: string): Promise<Standing>;
  /** Tells whether a request would exceed the limit, and counts nothing. */
  peek(client: string): Promise<Standing>;
};

export type LimiterOptions = {
  readonly window: Window;
  readonly redis: Redis | undefined;
  /** Counts where there is no Redis, and while it is away: a limit is never switched off. */
  readonly own: Counter;
  /** Hears of a Redis that failed, once for each time that it is left alone. */
  readonly onRedisError: (error: unknown) => void;
};

export function createLimiter({ window, redis, own, onRedisError }: LimiterOptions): Limiter {
  const { limit, seconds } = window;
  const shared = redis && countInRedis(window, redis);
  let restUntil = 0;

  async function ask<T>(question: (counter: Counter) => Promise<T>): Promise<T> {
    if (!shared || performance.now() < restUntil) return question(own);
    try {
      return await question(shared);
    } catch (error) {
      if (performance.now() >= restUntil) onRedisError(error);
      restUntil = performance.now() + REDIS_REST_MS;
      return question(own);
    }
  }

  const standing = ({ used, msBeforeNext, exceeded }: Count): Standing => ({
    limit,
    remaining: exceeded ? 0 : Math.max(0, limit - used),
    resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
    exceeded,
  });

  return {
    limit,
    windowSeconds: seconds,
    consume: async (client) => standing(await ask((counter) => counter.consume(client))),
    async peek(client) {
      const counted = await ask((counter) => counter.look(client));
      return standing(counted ?? { used: 0, msBeforeNext: seconds * 1000, exceeded: false });
    },
  };
}
