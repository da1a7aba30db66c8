/** Where requests are counted: in this process, in Redis, or in Postgres. */
import type { Redis } from "ioredis";
import { LRUCache } from "lru-cache";
import pg from "pg";
import {
  type RateLimiterAbstract,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
} from "rate-limiter-flexible";
import { countSessions } from "../../../lib/db/sessions.ts";
import { watchedSocket } from "../../../lib/db/silent-server.ts";
import { sqlState } from "../../../lib/db/sql-state.ts";
import { ApiError } from "../../../lib/errors.ts";
import { DEPENDENCY_TIMEOUT_MS, databaseUnavailable, fromDatabase } from "../dependency-timeout.ts";

/** At most `limit` requests per client within `seconds`, from the client's first request on. */
export type Window = { readonly name: string; readonly limit: number; readonly seconds: number };

/** A client's count in its window, which ends in `msBeforeNext` ms. */
export type Count = { readonly used: number; readonly msBeforeNext: number; readonly exceeded: boolean };

export type Counter = {
  /** Counts a request. */
  consume(client: string): Promise<Count>;
  /** Reads the count without changing it; null for a client without requests in this window. */
  look(client: string): Promise<Count | null>;
};

/**
 * Most clients kept in memory, about 0.5 kB each: an attacker can use any number of addresses. Beyond it the client that was
 * counted least recently is dropped, and starts a new window.
 */
export const MAX_CLIENTS = 50_000;

const optionsOf = ({ name, limit, seconds }: Window) => ({
  points: limit,
  duration: seconds,
  keyPrefix: `cover:limit:${name}`,
});

/** Above the limit a client is refused from memory until its window ends, so that a flood writes nothing. */
const blockedOnceExceeded = ({ limit }: Window) => ({ inMemoryBlockOnConsumed: limit + 1 });

/** The library rejects a request above the limit with its count; here that is a result like the others. */
async function settled(count: Promise<RateLimiterRes>): Promise<Count> {
  try {
    const { consumedPoints, msBeforeNext } = await count;
    return { used: consumedPoints, msBeforeNext, exceeded: false };
  } catch (error) {
    if (!(error instanceof RateLimiterRes)) throw error;
    return { used: error.consumedPoints, msBeforeNext: error.msBeforeNext, exceeded: true };
  }
}

const counterOf = (limiter: RateLimiterAbstract, { limit }: Window): Counter => ({
  consume: (client) => settled(limiter.consume(client)),
  async look(client) {
    const counted = await limiter.get(client);
    if (!counted || counted.msBeforeNext <= 0) return null;
    const { consumedPoints: used, msBeforeNext } = counted;
    return { used, msBeforeNext, exceeded: used >= limit };
  },
});

/** Counts in this process only; never rejects. The library's own store in memory has no bound. */
export function countInMemory({ limit, seconds }: Window): Counter {
  const windows = new LRUCache<string, { used: number; readonly endsAt: number }>({ max: MAX_CLIENTS });
  const countOf = ({ used, endsAt }: { used: number; endsAt: number }, exceeded: boolean): Count => ({
    used,
    msBeforeNext: endsAt - performance.now(),
    exceeded,
  });
  const running = (client: string) => {
    const window = windows.peek(client);
    return window && window.endsAt > performance.now() ? window : undefined;
  };
  return {
    async consume(client) {
      const window = running(client) ?? { used: 0, endsAt: performance.now() + seconds * 1000 };
      window.used += 1;
      windows.set(client, window);
      return countOf(window, window.used > limit);
    },
    async look(client) {
      const window = running(client);
      return window ? countOf(window, window.used >= limit) : null;
    },
  };
}

/** Counts over all processes; rejects at once while Redis is down. */
export const countInRedis = (window: Window, redis: Redis): Counter =>
  counterOf(
    new RateLimiterRedis({
      ...optionsOf(window),
      ...blockedOnceExceeded(window),
      storeClient: redis,
      rejectIfRedisNotReady: true,
    }),
    window,
  );

/** Connections to Postgres that count. A crash of the server may lose the last counts. */
export function openCounts(databaseUrl: string) {
  const max = 2;
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: "api-counts",
    max,
    // Also of the wait for a free connection, which the caller gives up earlier.
    connectionTimeoutMillis: DEPENDENCY_TIMEOUT_MS + 500,
    idleTimeoutMillis: 5000, // before the socket counts as silent
    stream: () => watchedSocket(4000),
    onConnect: (client) => client.query("set synchronous_commit = off"),
  });
  pool.on("error", () => {}); // reported where a count fails
  const uncount = countSessions(max);
  return {
    pool,
    async close(): Promise<void> {
      uncount();
      await pool.end();
    },
  };
}

/**
 * Counts over all processes, exactly: the statement that counts locks its client's row. The library deletes rows an hour after
 * their window, every five minutes.
 * Rejects with ApiError `database_unavailable` while Postgres is down.
 */
export function countInPostgres(window: Window, pool: pg.Pool): Counter {
  const limiter = new RateLimiterPostgres({
    ...optionsOf(window),
    ...blockedOnceExceeded(window),
    storeClient: pool,
    storeType: "pool",
    schemaName: "service",
    tableName: "rate_limit",
    tableCreated: true,
  });
  const { consume, look } = counterOf(limiter, window);
  const counted = <T>(count: () => Promise<T>): Promise<T> =>
    fromDatabase(count).catch((error: unknown) => {
      // pg's own errors have no code: the connection was lost.
      throw error instanceof ApiError || sqlState(error) !== "" ? error : databaseUnavailable(error);
    });
  return {
    consume: (client) => counted(() => consume(client)),
    look: (client) => counted(() => look(client)),
  };
}
