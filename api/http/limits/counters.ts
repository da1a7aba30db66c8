/** Where requests are counted: in this process, in Redis, or in Postgres. */
import type { Redis } from "ioredis";
import type postgres from "postgres";
import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRedis,
  RateLimiterRes,
} from "rate-limiter-flexible";
import { fromDatabase } from "../dependency-timeout.ts";

/** So many requests of one client in so many seconds, from the client's first request on. */
export type Window = { readonly name: string; readonly limit: number; readonly seconds: number };

/** What was counted of a client in its window, until it ends in `msBeforeNext` ms. */
export type Count = { readonly used: number; readonly msBeforeNext: number; readonly exceeded: boolean };

export type Counter = {
  /** Counts a request. */
  consume(client: string): Promise<Count>;
  /** Counts nothing; null for a client of whom nothing is known. */
  look(client: string): Promise<Count | null>;
};

/**
 * Clients that are remembered in memory at once, about 0.5 kB each: addresses are cheap to make up, memory is not. Beyond
 * that the client whose window began first starts afresh.
 */
export const MAX_CLIENTS = 50_000;

const optionsOf = ({ name, limit, seconds }: Window) => ({
  points: limit,
  duration: seconds,
  keyPrefix: `cover:limit:${name}`,
});

/** A client above the limit is refused from this process's memory until its window ends: a flood writes nothing. */
const blockedOnceExceeded = ({ limit }: Window) => ({ inMemoryBlockOnConsumed: limit + 1 });

/** The library rejects with the count of a request that exceeds the limit; here that is an outcome like the others. */
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

/** The library's counter in memory, which keeps every client for its window, with a bound to their number. */
class BoundedMemory extends RateLimiterMemory {
  /** In the order in which their windows began; some may have ended. */
  readonly #clients = new Set<string>();

  override async consume(client: string): Promise<RateLimiterRes> {
    const counted = await super.consume(client);
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

/** Counts of this process alone; it never rejects. */
export const countInMemory = (window: Window): Counter =>
  counterOf(new BoundedMemory(optionsOf(window)), window);

/** Counts that all processes share; it rejects at once while Redis is away. */
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

/** Our connections as the library takes them: it asks for a pool of `pg`, of which it needs this one method. */
const poolOf = (sql: postgres.Sql) => ({
  async query({ text, values }: { text: string; values: (string | number | null)[] }) {
    const rows = await sql.unsafe(text, values);
    return { rows, rowCount: rows.count };
  },
});

/**
 * Counts that all processes share: one statement each, whose row lock makes them exact. Rows of windows that ended an
 * hour ago are deleted every five minutes by the library.
 * Rejects with ApiError `database_unavailable` while Postgres is away.
 */
export function countInPostgres(window: Window, sql: postgres.Sql): Counter {
  const limiter = new RateLimiterPostgres({
    ...optionsOf(window),
    ...blockedOnceExceeded(window),
    storeClient: poolOf(sql),
    storeType: "pool",
    schemaName: "service",
    tableName: "rate_limit",
    tableCreated: true,
  });
  const { consume, look } = counterOf(limiter, window);
  return {
    consume: (client) => fromDatabase(() => consume(client)),
    look: (client) => fromDatabase(() => look(client)),
  };
}
