import { LRUCache } from "lru-cache";
import { Agent } from "undici";
import type { Attempt, AttemptOutcome } from "../../lib/webhooks/attempt.ts";
import { ResolverUnavailable, type TargetGuard, TargetRefused } from "../../lib/webhooks/target-guard.ts";
import {
  type HttpRequest,
  type HttpResult,
  type PendingRequest,
  startRequest,
  storableText,
} from "./http-request.ts";
import { parseRetryAfter } from "./retry-schedule.ts";
import type { SignedRequest } from "./signature.ts";

/**
 * Sends requests to receivers. The target guard checks each URL, and the addresses of its host while connecting. Redirects are
 * not followed, because they would bypass the guard.
 */

/** Timeout of a receiver's answer: DNS, connection, TLS and status together, in ms. */
export const ANSWER_MS = 10_000;
/** A kept connection that the receiver has closed fails within this time, in ms. */
const STALE_MS = 1000;
const MAX_HEADER_BYTES = 16_384;
/** Idle connections are kept for this time, in ms, or as long as the receiver's keep-alive header says, up to the maximum. */
const KEEP_ALIVE_MS = 4000;
const KEEP_ALIVE_MAX_MS = 30_000;
/** Cached checks of URLs. */
const MAX_INSPECTED = 5000;
/** Characters of an error message. */
const MAX_ERROR = 200;
const USER_AGENT = "parametric-cover-webhooks/1";

/** `retryAfter` in seconds, null when the receiver asked for no pause. */
export type CallResult = { readonly attempt: Attempt; readonly retryAfter: number | null };

export type ReceiverClient = {
  /** Undefined when `abort` came first: the receiver may have got the request. */
  post(request: SignedRequest): Promise<CallResult | undefined>;
  /** Aborts the requests in flight and refuses new ones. */
  abort(): void;
  close(): Promise<void>;
};

/** `connections` bounds the open connections to one host and port; tests set the times. */
export function createReceiverClient(
  guard: TargetGuard,
  connections: number,
  { answerMs = ANSWER_MS, staleMs = STALE_MS } = {},
): ReceiverClient {
  const settings = {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const guarded = new Agent({ ...settings, connect: { timeout: answerMs, lookup: guard.lookup } });
  const trusted = new Agent({ ...settings, connect: { timeout: answerMs } });
  const inspections = new LRUCache<string, ReturnType<TargetGuard["inspect"]>>({
    max: MAX_INSPECTED,
    memoMethod: (url) => guard.inspect(url),
  });
  const inFlight = new Set<PendingRequest>();
  let aborted = false;

  async function send(agent: Agent, request: HttpRequest, timeoutMs: number): Promise<HttpResult> {
    if (aborted) return { kind: "aborted" };
    const pending = startRequest(agent, request, timeoutMs);
    inFlight.add(pending);
    try {
      return await pending.done;
    } finally {
      inFlight.delete(pending);
    }
  }

  return {
    async post({ url, body, headers }) {
      const start: Start = { at: new Date().toISOString(), clock: performance.now() };
      const inspected = inspections.memo(url);
      if (!inspected.ok) {
        return callResult(start, "target_refused", { error: `the address ${inspected.reason}` });
      }
      const { url: target, allowed } = inspected.target;
      const request = {
        origin: target.origin,
        path: target.pathname + target.search,
        body,
        headers: { ...headers, "content-type": "application/json", "user-agent": USER_AGENT },
      };
      const agent = allowed ? trusted : guarded;
      let result = await send(agent, request, answerMs);
      const elapsed = performance.now() - start.clock;
      // The receiver may have closed a kept connection: try once more on a new one.
      if (result.kind === "failed" && elapsed < staleMs && isReset(result.error)) {
        result = await send(agent, request, answerMs - elapsed);
      }
      return callResultOf(start, result, answerMs);
    },
    abort() {
      aborted = true;
      for (const pending of inFlight) pending.abort();
    },
    async close() {
      await Promise.all([guarded.destroy(), trusted.destroy()]);
    },
  };
}

type Start = { readonly at: string; readonly clock: number };

function callResult(
  { at, clock }: Start,
  outcome: AttemptOutcome,
  { status = null, error = null, response = null }: Partial<Pick<Attempt, "status" | "error" | "response">>,
  retryAfter: number | null = null,
): CallResult {
  const durationMs = Math.round(performance.now() - clock);
  return { attempt: { at, durationMs, outcome, status, error, response }, retryAfter };
}

function callResultOf(start: Start, result: HttpResult, answerMs: number): CallResult | undefined {
  switch (result.kind) {
    case "aborted":
      return undefined;
    case "timeout":
      return callResult(start, "timeout", { error: `no answer within ${answerMs / 1000} s` });
    case "failed":
      return callResult(start, outcomeOf(result.error), { error: describeError(result.error) });
    case "answered": {
      const { status, response, retryAfter } = result;
      if (status < 300) return callResult(start, "delivered", { status, response });
      const error = `answered ${status}${status < 400 ? ", and redirects are not followed" : ""}`;
      return callResult(start, "refused", { status, response, error }, parseRetryAfter(retryAfter));
    }
  }
}

const codeOf = (error: Error): string => ("code" in error ? String(error.code) : "");
const isReset = (error: Error): boolean => /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(codeOf(error));

function outcomeOf(error: Error): AttemptOutcome {
  if (error instanceof TargetRefused) return "target_refused";
  return codeOf(error) === "UND_ERR_CONNECT_TIMEOUT" ? "timeout" : "connection_failed";
}

/** Describes a failure to the subscriber, with at most {@link MAX_ERROR} characters of the receiver's own text. */
function describeError(error: Error): string {
  if (error instanceof TargetRefused) return `the address ${error.message}`;
  if (error instanceof ResolverUnavailable) return error.message;
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = codeOf(first);
  const message = MESSAGES[code] ?? first.message;
  // The cut may leave half of a surrogate pair, which Postgres would reject.
  return storableText(Buffer.from(message.slice(0, MAX_ERROR))) || code || "the connection failed";
}

const MESSAGES: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: "no connection within the time limit",
  UND_ERR_HEADERS_OVERFLOW: `the headers of the answer have more than ${MAX_HEADER_BYTES} bytes`,
  UND_ERR_SOCKET: "the connection was closed before an answer",
  ECONNRESET: "the connection was reset before an answer",
  ECONNREFUSED: "the connection was refused",
};
