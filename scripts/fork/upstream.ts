/** The node whose chain is forked, asked as fast as it allows. */
import { setTimeout as sleep } from "node:timers/promises";
import { BaseError, HttpRequestError, RpcRequestError } from "viem";
import { nodeTransport } from "../../lib/chain/node-transport.ts";
import { isRateLimit, LIMIT_EXCEEDED } from "../../lib/chain/rate-limit.ts";

/** Any JSON-RPC call. */
export type Call = { readonly method: string; readonly params?: unknown };

/** Requests a second at first: the least that public nodes allow. */
const FIRST_RATE = 15;
const MOST = 500;
/** Times that one request is repeated after a refusal for the rate, and after no answer. */
const MOST_REFUSALS = 30;
const MOST_FAILURES = 4;
/** After a refusal without a time. */
const PAUSE_MS = 1_000;
const TIMEOUT_MS = 30_000;

function isRefusedForRate(error: unknown, method: string): boolean {
  if (isRateLimit(error)) return true;
  // Of logs it means too many of them.
  if (method === "eth_getLogs" || !(error instanceof BaseError)) return false;
  return error.walk((one) => one instanceof RpcRequestError && one.code === LIMIT_EXCEEDED) !== null;
}

/** The node answered, and will answer the same again. */
const isAnswer = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (one) =>
      one instanceof RpcRequestError ||
      (one instanceof HttpRequestError && one.status !== undefined && one.status < 500),
  ) !== null;

/** The seconds of a refusal's `Retry-After`, in ms. */
function retryAfter(error: unknown): number {
  const cause = error instanceof BaseError ? error.walk((one) => one instanceof HttpRequestError) : undefined;
  const seconds = cause instanceof HttpRequestError ? Number(cause.headers?.get("retry-after")) : 0;
  return seconds > 0 ? Math.min(seconds, 60) * 1_000 : PAUSE_MS;
}

/**
 * Requests to one node. Their rate doubles each second until the node refuses one for it; then it is halved, and rises by a tenth each
 * second up to just below the rate that was refused, and slowly beyond.
 */
export class Upstream {
  readonly #transport;
  #rate: number;
  #ceiling = MOST;
  #refused = false;
  #next = 0;
  #answered = 0;
  #loweredAt = 0;

  /** @param rate requests a second, as an earlier start found them */
  constructor(url: string, rate = FIRST_RATE) {
    this.#rate = rate;
    this.#transport = nodeTransport(url, { timeout: TIMEOUT_MS, retryCount: 0 })({});
  }

  /** Requests a second. */
  get rate(): number {
    return Math.floor(this.#rate);
  }

  /** @throws what viem's transport does, once repeating has not helped */
  async request({ method, params }: Call): Promise<unknown> {
    for (let refusals = 0, failures = 0; ; ) {
      const sentAt = await this.#turn();
      try {
        const answer: unknown = await this.#transport.request({ method, params });
        this.#raise();
        return answer;
      } catch (error) {
        if (isRefusedForRate(error, method)) {
          refusals += 1;
          if (refusals > MOST_REFUSALS) throw error;
          this.#lower(sentAt, retryAfter(error));
        } else {
          failures += 1;
          // Fewer blocks of logs may be answered in time.
          if (isAnswer(error) || method === "eth_getLogs" || failures > MOST_FAILURES) throw error;
          await sleep(PAUSE_MS * failures);
        }
      }
    }
  }

  /** Waits for this request's place in the rate. @returns the time in ms */
  async #turn(): Promise<number> {
    const now = Date.now();
    const at = Math.max(now, this.#next);
    this.#next = at + 1_000 / this.#rate;
    if (at > now) await sleep(at - now);
    return Date.now();
  }

  #raise(): void {
    this.#answered += 1;
    if (this.#answered < this.#rate) return;
    this.#answered = 0;
    // A refusal may have been chance: the ceiling gives way slowly.
    if (this.#rate >= this.#ceiling) this.#ceiling = Math.min(this.#ceiling * 1.05, MOST);
    this.#rate = Math.min(this.#rate * (this.#refused ? 1.1 : 2), this.#ceiling);
  }

  /** Requests that were sent before the rate was lowered tell nothing about the new one. */
  #lower(sentAt: number, pauseMs: number): void {
    this.#next = Math.max(this.#next, Date.now() + pauseMs);
    if (sentAt < this.#loweredAt) return;
    this.#loweredAt = Date.now() + pauseMs;
    this.#refused = true;
    this.#ceiling = Math.max(this.#rate * 0.9, 1);
    this.#rate = Math.max(this.#rate / 2, 1);
    this.#answered = 0;
  }
}
