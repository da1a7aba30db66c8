/**
 * Reads of the index on a standby of Postgres. A standby can be behind, away, or cancel a read that holds up its replay; the primary
 * answers then.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import { type Connection, type ConnectOptions, connect, isConnectionError } from "../../lib/db/connect.ts";
import { type DatabaseCopy, readDatabaseCopy } from "../../lib/db/database-copy.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { unlessAborted, within } from "../../lib/timeout.ts";
import type { AsOf } from "../chain/block.ts";
import { readHead } from "./head.ts";
import { createNewestBlock } from "./newest-block.ts";

/** A standby that is more blocks behind the primary is not read. */
const MOST_BEHIND = 2n;
/** Pause between two comparisons with the primary, in ms: shorter than the time between two blocks. */
const PAUSE_MS = 500;
/** A server that takes longer to tell its head is away, in ms. A read waits so long for a standby that vanished. */
const ANSWER_MS = 1000;
/** A statement took too long. That is no sign that the standby is away. */
const QUERY_CANCELED = "57014";

export type Standby = {
  /** For prepared statements. Only `read` says whether the standby may be asked. */
  readonly db: PostgresJsDatabase;
  readonly sql: Sql;
  /** Whether reads of the index ask the standby first. */
  isUsed(): boolean;
  /**
   * Runs `query` on the standby. Undefined if the primary should answer: the standby is not used, is lost meanwhile, has failed, or
   * its answer describes an older block than one that was known when the read began. Never rejects.
   */
  read<T extends { readonly asOf: AsOf }>(
    query: (on: PostgresJsDatabase) => Promise<T | undefined>,
  ): Promise<T | undefined>;
  /** Records the block of an answer, whichever server gave it. `begun`: when its read began, by `performance.now`. */
  learn(asOf: AsOf, begun: number): void;
  close(): Promise<void>;
};

export type StandbyOptions = {
  /** `DATABASE_READ_URL`. */
  readonly url: string;
  /** `DATABASE_URL`. */
  readonly primaryUrl: string;
  readonly pool: Omit<ConnectOptions, "name">;
  readonly deployment: { readonly chainId: number };
  readonly log: Logger;
};

/** What a comparison finds on a server; the head is undefined where it has none. */
export type Found = DatabaseCopy & { readonly head: AsOf | undefined };

/**
 * Why the primary should answer; undefined for the standby. One that is not used must first have the primary's own block: a higher
 * one may be of a fork that the primary has left.
 */
export function reasonAgainst(
  standby: Found,
  primary: Found,
  { isUsed }: { isUsed: boolean },
): string | undefined {
  if (standby.database !== primary.database) return "this is no copy of the primary's database";
  if (!standby.isStandby) return "this is no standby, or it was promoted";
  if (!standby.head) return "the standby has no block";
  if (!primary.head) return "the index is catching up";
  const behind = primary.head.number - standby.head.number;
  if (behind > (isUsed ? MOST_BEHIND : 0n)) return `the standby is ${behind} blocks behind`;
  return isUsed || standby.head.hash === primary.head.hash ? undefined : "the standby has another block";
}

/** What the api knows of the primary while it is away. */
export type LastKnown = {
  /** Undefined if it was away since the api's start. */
  readonly database: string | undefined;
  /** The newest block that was answered. */
  readonly newest: AsOf | undefined;
  /** The index took blocks back since the standby was used: its higher blocks may be those. */
  readonly tookBack: boolean;
};

/** Why no server can answer while the primary is away; undefined for the standby, promoted or not. */
export function reasonWithoutPrimary(
  standby: Found,
  { database, newest, tookBack }: LastKnown,
): string | undefined {
  if (database === undefined) return "the primary is away, and was never seen";
  if (standby.database !== database) return "this is no copy of the primary's database";
  if (!standby.head) return "the standby has no block";
  const hasNewest = tookBack ? standby.head.hash === newest?.hash : isAsNew(standby.head, newest);
  return hasNewest ? undefined : "the primary is away, and the standby lacks a block that was answered";
}

/** True unless `asOf` may be older than `known`. Of two blocks with one number, only the primary knows the newer one. */
const isAsNew = (asOf: AsOf, known: AsOf | undefined) =>
  known === undefined || asOf.number > known.number || asOf.hash === known.hash;

/** The server is away, or ended the session. */
const isAway = (error: unknown) => isConnectionError(error) && sqlState(error) !== QUERY_CANCELED;

const late = () => new Error(`no answer within ${ANSWER_MS} ms`);

/** Connects to the standby, and compares it with the primary until it is closed. It starts, and keeps running, without either. */
export function openStandby({ url, primaryUrl, pool, deployment, log }: StandbyOptions): Standby {
  const { chainId } = deployment;
  const connection = connect(url, { ...pool, name: "api-standby", otherServer: true });
  // Of their own, so that no comparison waits behind slow reads.
  const watchOptions = { ...pool, name: "api-standby-watch", max: 1 };
  const watch = connect(url, { ...watchOptions, otherServer: true });
  const primaryWatch = connect(primaryUrl, watchOptions);
  const open = (sql: Sql) => drizzle(sql, { casing: "snake_case" });
  const db = open(connection.sql);
  const newest = createNewestBlock();
  /** Aborted once the standby is not used any more; undefined before the first choice. */
  let use: AbortController | undefined;
  /** When the newest choice was made, by `performance.now`. */
  let chosen = 0;
  /** The last logged reason for the primary, without its numbers. A new reason is logged, a new number is not. */
  let against: string | undefined;
  let tookBack = false;
  let closed = false;

  const isUsed = () => use?.signal.aborted === false;

  /** Uses the standby, or the primary for this reason. */
  function choose(reason: string | undefined): void {
    chosen = performance.now();
    const kind = reason?.replace(/\d+/g, "");
    if (closed || (use && isUsed() === (reason === undefined) && kind === against)) return;
    against = kind;
    if (reason === undefined) {
      tookBack = false;
      use = new AbortController();
      setMaxListeners(0, use.signal); // each read listens
      log.info("reads of the index go to the standby");
    } else {
      use ??= new AbortController();
      use.abort();
      log.warn({ reason }, "reads of the index go to the primary");
    }
  }

  async function look({ sql }: Connection): Promise<Found> {
    const [copy, head] = await Promise.all([readDatabaseCopy(sql), readHead(open(sql), chainId)]);
    return { ...copy, head };
  }

  /** The standby's look that has no answer yet. */
  let pending: Promise<Found> | undefined;
  /** Waits for a pending look instead of sending another: a standby that is away would find many of them waiting. */
  function lookAtStandby(): Promise<Found> {
    pending ??= look(watch).finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function keepComparing(): Promise<void> {
    /** The primary's database. */
    let database: string | undefined;
    while (!closed) {
      const begun = performance.now();
      // Only the standby is judged by its time: without the primary's answer, the standby is the better one to ask.
      const [ours, theirs] = await Promise.allSettled([
        within(ANSWER_MS, lookAtStandby(), late),
        look(primaryWatch),
      ]);
      if (theirs.status === "fulfilled") database = theirs.value.database;
      // A choice that was made meanwhile knew more.
      if (chosen < begun) {
        if (theirs.status === "fulfilled") {
          choose(
            ours.status === "rejected"
              ? errorText(ours.reason)
              : reasonAgainst(ours.value, theirs.value, { isUsed: isUsed() }),
          );
        } else if (ours.status === "fulfilled" && isAway(theirs.reason)) {
          choose(reasonWithoutPrimary(ours.value, { database, newest: newest.known()?.asOf, tookBack }));
        }
      }
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }
  void keepComparing();

  return {
    db,
    sql: connection.sql,
    isUsed,
    learn(asOf, begun) {
      const before = newest.known()?.asOf;
      newest.learn(asOf, begun);
      // The standby gives no such answer, so the primary has left a fork, and the standby may still have its higher blocks.
      if (newest.known()?.asOf === asOf && !isAsNew(asOf, before)) {
        tookBack = true;
        choose("the index took blocks back");
      }
    },
    async read(query) {
      if (!use || use.signal.aborted) return undefined;
      const known = newest.known()?.asOf;
      try {
        const found = await unlessAborted(use.signal, query(db));
        return found && isAsNew(found.asOf, known) ? found : undefined;
      } catch (error) {
        log.debug({ err: errorText(error) }, "a read on the standby failed: the primary is asked");
        if (isAway(error)) choose(errorText(error));
        return undefined;
      }
    },
    async close() {
      closed = true;
      await Promise.all([connection, watch, primaryWatch].map((opened) => opened.close()));
    },
  };
}
