/** Reads of the API, one per address, shared by everything that shows it. */
import { type Signal, signal } from "@preact/signals";
import {
  type AnswerTo,
  createPolledRead,
  type Operation,
  type PathWith,
  type PolledAnswer,
  type RequestArgument,
} from "../../client/index.ts";
import { api } from "./api.ts";
import { position } from "./heartbeat.ts";
import { mayRepeat, noteRateLimit, noteRefusal } from "./pace.ts";

/** What is known of an answer. `stale` keeps the last one, with the reason why there is no newer one. */
export type Read<Body> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown }
  | { readonly state: "ready"; readonly body: Body; readonly readAt: number }
  | { readonly state: "stale"; readonly body: Body; readonly readAt: number; readonly error: unknown };

/** What is known after a read that failed: the last answer stays. */
export const afterFailure = <Body>(before: Read<Body>, error: unknown): Read<Body> =>
  before.state === "ready" || before.state === "stale"
    ? { ...before, state: "stale", error }
    : { state: "failed", error };

/** The least time between two reads of one address, in ms; only a new block is a reason to read an indexed answer again. */
const USUAL_MS = 12_000;
/** The same for what is shown as it happens: each heartbeat. */
const LIVE_MS = 3000;
/** Answers that nobody shows any more, kept for the way back. */
const KEPT = 40;

type SharedRead<Body> = {
  readonly path: PathWith<"get">;
  readonly answer: Signal<Read<Body>>;
  /** Reads now, unless a read is under way. */
  readonly refresh: () => Promise<void>;
  /** Whether an answer could have changed since it was read. */
  readonly isOld: () => boolean;
  watchers: number;
  everyMs: number;
};

const reads = new Map<string, SharedRead<unknown>>();

/** The body's type follows from the path. */
const isOf = <P extends PathWith<"get">>(
  read: SharedRead<unknown>,
  path: P,
): read is SharedRead<AnswerTo<P>> => read.path === path;

function createRead<Body>(path: PathWith<"get">, ask: () => Promise<PolledAnswer<Body>>): SharedRead<Body> {
  const answer = signal<Read<Body>>({ state: "loading" });
  let running: Promise<void> | undefined;
  let askedAt = 0;
  /** The indexed block at the last answer; undefined for answers that are not of the index. */
  let block: bigint | undefined;

  async function read(): Promise<void> {
    askedAt = Date.now();
    try {
      const { body, indexedBlock, rateLimit } = await ask();
      block = indexedBlock;
      noteRateLimit(rateLimit);
      answer.value = { state: "ready", body, readAt: Date.now() };
    } catch (error) {
      noteRefusal(error);
      answer.value = afterFailure(answer.peek(), error);
    }
  }

  const shared: SharedRead<Body> = {
    path,
    answer,
    refresh() {
      running ??= read().finally(() => {
        running = undefined;
      });
      return running;
    },
    isOld() {
      if (answer.peek().state !== "ready") return true;
      const isDue = Date.now() - askedAt >= shared.everyMs;
      return isDue && (block === undefined || block !== position.peek()?.block);
    },
    watchers: 0,
    everyMs: USUAL_MS,
  };
  return shared;
}

/** Forgets the oldest answers that nobody shows. */
function forgetOldest(): void {
  for (const [address, { watchers }] of reads) {
    if (reads.size <= KEPT) return;
    if (watchers === 0) reads.delete(address);
  }
}

/** The shared read of an address; it is created, but not yet read, when it is new. */
export function sharedRead<P extends PathWith<"get">>(
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): SharedRead<AnswerTo<P>> {
  const address = api.address(path, ...request);
  const known = reads.get(address);
  if (known && isOf(known, path)) return known;
  const created = createRead<AnswerTo<P>>(path, createPolledRead<P>(api, path, ...request));
  reads.set(address, created);
  forgetOldest();
  return created;
}

/** Keeps a read fresh until the returned function is called; a live one with every block. */
export function watch<Body>(read: SharedRead<Body>, { live }: { live: boolean }): () => void {
  read.watchers += 1;
  read.everyMs = live ? LIVE_MS : USUAL_MS;
  if (read.isOld()) void read.refresh();
  return () => {
    read.watchers -= 1;
  };
}

/** Reads again what is shown and may have changed. */
export function refreshShown(): void {
  if (!mayRepeat()) return;
  for (const read of reads.values()) if (read.watchers > 0 && read.isOld()) void read.refresh();
}
