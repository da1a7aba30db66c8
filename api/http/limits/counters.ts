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
import { createBatcher } from "../../../lib/batcher.ts";
import { fromDatabase } from "../dependency-timeout.ts";

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
 * Most clients kept in memory, about 0.5 kB each: an attacker can use any number of addresses. Beyond it the client with
 * the oldest window is dropped, and starts a new one.
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

/** The library's counter in memory, with at most `MAX_CLIENTS` clients. */
class BoundedMemory extends RateLimiterMemory {
  /** In the order in which their windows began; some windows may have ended. */
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

/** Counts in this process only; never rejects. */
export const countInMemory = (window: Window): Counter =>
  counterOf(new BoundedMemory(optionsOf(window)), window);

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

/** Most requests counted by one statement. */
const ROUND = 100;

/** The library's statement that counts a request; its first value is the client's key, its third the end of a new window. */
const COUNT = "rate_limit:rlflx-upsert";

type Query = { name: string; text: string; values: (string | number | null)[] };
type Counted = { points: number; expire: string };

/**
 * Counts a round of requests in one statement. Each gets the count as if its client's requests had come one after the other.
 * Rows are locked in the order of their keys, so that no two processes wait for each other.
 */
async function countRound(sql: postgres.Sql, round: readonly Query[]): Promise<Map<Query, Counted>> {
  const clients = new Map<string, Query[]>();
  for (const query of round) {
    const key = String(query.values[0]);
    clients.set(key, [...(clients.get(key) ?? []), query]);
  }
  const input = [...clients].map(([key, queries]) => ({
    key,
    points: queries.length,
    expire: queries[0]?.values[2],
  }));
  const now = Date.now();
  const rows = await sql<(Counted & { key: string })[]>`
    insert into service.rate_limit as counted (key, points, expire)
    select key, points, expire from json_to_recordset(${JSON.stringify(input)}::text::json)
      as t (key text, points int, expire bigint) order by key
    on conflict (key) do update set
      points = excluded.points + case when counted.expire <= ${now} then 0 else counted.points end,
      expire = case when counted.expire <= ${now} then excluded.expire else counted.expire end
    returning key, points, expire`;
  return new Map(
    rows.flatMap(({ key, points, expire }) =>
      (clients.get(key) ?? []).map(
        (query, n, { length }) => [query, { points: points - length + n + 1, expire }] as const,
      ),
    ),
  );
}

/** Adapts our connections to the library, which expects a pool of `pg` and uses only this method. */
function poolOf(sql: postgres.Sql) {
  const count = createBatcher((round: Query[]) => countRound(sql, round), ROUND);
  return {
    async query(query: Query) {
      if (query.name === COUNT) return { rows: [(await count(query)).get(query)], rowCount: 1 };
      const rows = await sql.unsafe(query.text, query.values);
      return { rows, rowCount: rows.count };
    },
  };
}

/**
 * Counts over all processes, exactly: the statement that counts concurrent requests locks their clients' rows. The library deletes rows an hour
 * after their window, every five minutes.
 * Rejects with ApiError `database_unavailable` while Postgres is down.
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
