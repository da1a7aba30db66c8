import { Agent } from "undici";
import type { Attempt, AttemptOutcome } from "../../lib/webhooks/attempt.ts";
import { ResolverUnavailable, type TargetGuard, TargetRefused } from "../../lib/webhooks/guard.ts";
import { type Exchange, type Request, type Running, startExchange, storable } from "./exchange.ts";
import { parseRetryAfter } from "./schedule.ts";

/**
 * The calls to subscribers. Every one goes through the guard, by its address before and by what its name resolves to while
 * it connects; redirects are not followed, so that nobody is led elsewhere.
 */

/** What a receiver has for its answer: name, connection, TLS and status together, in ms. */
export const ANSWER_MS = 10_000;
/** A kept connection that was closed by the other side shows at once, in ms. */
const STALE_MS = 1000;
const MAX_HEADER_BYTES = 16_384;
/** Idle connections are kept so long, in ms, or as long as the receiver says, up to the second. */
const KEEP_MS = 4000;
const KEEP_MAX_MS = 30_000;
const MAX_ERROR = 200;

/** One event on its way to one address; `headers` are the signatures. */
export type Outgoing = {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** `retryAfter` in seconds, null when the receiver did not ask for a pause. */
export type Posted = { readonly attempt: Attempt; readonly retryAfter: number | null };

export type Poster = {
  /** Undefined when `stop` came first: whether it arrived is not known. */
  post(outgoing: Outgoing): Promise<Posted | undefined>;
  /** Gives up what is under way. */
  stop(): void;
  close(): Promise<void>;
};

/** `connections` bounds the open connections to one host and port. */
export function createPoster({
  guard,
  connections,
  answerMs = ANSWER_MS,
}: {
  guard: TargetGuard;
  connections: number;
  answerMs?: number;
}): Poster {
  const settings = {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_MS,
    keepAliveMaxTimeout: KEEP_MAX_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const guarded = new Agent({ ...settings, connect: { timeout: answerMs, lookup: guard.lookup } });
  const trusted = new Agent({ ...settings, connect: { timeout: answerMs } });
  const inspect = rememberLast(guard.inspect, 5000);
  const running = new Set<Running>();
  let stopped = false;

  async function exchange(agent: Agent, request: Request, timeoutMs: number): Promise<Exchange> {
    if (stopped) return { kind: "stopped" };
    const started = startExchange(agent, request, timeoutMs);
    running.add(started);
    try {
      return await started.done;
    } finally {
      running.delete(started);
    }
  }

  return {
    async post({ url, body, headers }) {
      const began: Began = { at: new Date().toISOString(), clock: performance.now() };
      const inspected = inspect(url);
      if (!inspected.ok) return posted(began, "target_refused", { error: `the address ${inspected.reason}` });
      const { url: target, allowed } = inspected.target;
      const request = {
        origin: target.origin,
        path: target.pathname + target.search,
        body,
        headers: { ...headers, "content-type": "application/json", "user-agent": USER_AGENT },
      };
      const agent = allowed ? trusted : guarded;
      let result = await exchange(agent, request, answerMs);
      const elapsed = performance.now() - began.clock;
      // A connection that was kept may have been closed by the other side meanwhile: once more, on another one.
      if (result.kind === "failed" && elapsed < STALE_MS && isReset(result.error)) {
        result = await exchange(agent, request, answerMs - elapsed);
      }
      return postedFrom(began, result, answerMs);
    },
    stop() {
      stopped = true;
      for (const one of running) one.stop();
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

type Began = { readonly at: string; readonly clock: number };

function posted(
  { at, clock }: Began,
  outcome: AttemptOutcome,
  { status = null, error = null, response = null }: Partial<Pick<Attempt, "status" | "error" | "response">>,
  retryAfter: number | null = null,
): Posted {
  const durationMs = Math.round(performance.now() - clock);
  return { attempt: { at, durationMs, outcome, status, error, response }, retryAfter };
}

/** Only 2xx is delivered. */
function postedFrom(began: Began, result: Exchange, answerMs: number): Posted | undefined {
  switch (result.kind) {
    case "stopped":
      return undefined;
    case "late":
      return posted(began, "timeout", { error: `no answer within ${answerMs / 1000} s` });
    case "failed":
      return posted(began, outcomeOf(result.error), { error: wordsOf(result.error) });
    case "answered": {
      const { status, response, retryAfter } = result;
      if (status < 300) return posted(began, "delivered", { status, response });
      const error = `answered ${status}${status < 400 ? ", and redirects are not followed" : ""}`;
      return posted(began, "refused", { status, response, error }, parseRetryAfter(retryAfter));
    }
  }
}

/** A function of a text alone, which is not asked again about those of late. */
function rememberLast<Result>(of: (text: string) => Result, max: number): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    const result = known.get(text) ?? of(text);
    if (known.size >= max) known.clear();
    known.set(text, result);
    return result;
  };
}

const USER_AGENT = "parametric-cover-webhooks/1";

const codeOf = (error: Error): string => ("code" in error ? String(error.code) : "");
const isReset = (error: Error): boolean => /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(codeOf(error));

function outcomeOf(error: Error): AttemptOutcome {
  if (error instanceof TargetRefused) return "target_refused";
  return codeOf(error) === "UND_ERR_CONNECT_TIMEOUT" ? "timeout" : "connection_failed";
}

/** What went wrong, for the subscriber to read. What the other side sent stands in it only as text of a bounded length. */
function wordsOf(error: Error): string {
  if (error instanceof TargetRefused) return `the address ${error.message}`;
  if (error instanceof ResolverUnavailable) return error.message;
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = codeOf(first);
  const words = CODES[code] ?? first.message;
  // Half of a character at the end becomes a sign of its own in the bytes: Postgres takes none.
  return storable(Buffer.from(words.slice(0, MAX_ERROR))) || code || "the connection failed";
}

const CODES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_OVERFLOW: `the headers of the answer have more than ${MAX_HEADER_BYTES} bytes`,
  UND_ERR_SOCKET: "the connection was closed before an answer",
  ECONNRESET: "the connection was reset before an answer",
  ECONNREFUSED: "nobody listens at this address",
};
