import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { RESPONSE_BYTES } from "../../lib/webhooks/attempt.ts";

/**
 * One request and its answer, within a time and a size whatever the other side does. The status is what counts: once it
 * is there, the body is read as far as it is kept and comes soon, and what is left of it is dropped with the connection.
 */

/** So long a body is waited for once the status is there, in ms. */
const BODY_MS = 1000;

export type Request = {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Exchange =
  | { kind: "answered"; status: number; retryAfter: string | undefined; response: string }
  | { kind: "failed"; error: Error }
  | { kind: "late" }
  /** Given up by us; nobody knows whether it arrived. */
  | { kind: "stopped" };

type Head = { status: number; retryAfter: string | undefined; packed: string | undefined };

/** Sends one POST over `dispatcher`. Its `done` settles within `timeoutMs` and {@link BODY_MS}. */
export function startExchange(dispatcher: Dispatcher, request: Request, timeoutMs: number): Running {
  const running = new Running(timeoutMs);
  dispatcher.dispatch({ ...request, method: "POST", headersTimeout: 0, bodyTimeout: 0 }, running);
  return running;
}

/** A request under way. A class, because closures for each of them would cost more than what they do. */
export class Running implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly done: Promise<Exchange>;
  #settle: (exchange: Exchange) => void = () => {};
  #bell: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Head | undefined;
  #over = false;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(timeoutMs: number) {
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#bell = setTimeout(Running.#late, timeoutMs, this);
  }

  /** Gives it up. */
  stop(): void {
    this.#end({ kind: "stopped" });
  }

  static #late(running: Running): void {
    running.#end({ kind: "late" });
  }
  static #cut(running: Running): void {
    running.#answered();
  }

  #end(exchange: Exchange): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#bell);
    this.#settle(exchange);
    // What has been answered in full is not touched: its connection serves the next one.
    this.#controller?.abort(new Error("the rest is of no interest"));
  }

  #answered(): void {
    const head = this.#head;
    if (head) this.#end({ kind: "answered", ...head, response: textOf(head, this.#chunks) });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new Error("it is too late"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational answers may come before the answer.
    if (status < 200 || this.#head) return;
    const packed = one(headers["content-encoding"]);
    this.#head = { status, retryAfter: one(headers["retry-after"]), packed };
    clearTimeout(this.#bell);
    if (!this.#over) this.#bell = setTimeout(Running.#cut, BODY_MS, this);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#chunks.push(chunk.subarray(0, RESPONSE_BYTES - this.#size));
    this.#size += chunk.length;
    if (this.#size >= RESPONSE_BYTES) this.#answered();
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#answered();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#controller = undefined;
    if (this.#head) this.#answered();
    else this.#end({ kind: "failed", error });
  }
}

const one = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** The kept part of a body as text that Postgres can store. It is never unpacked: a bomb would go off. */
function textOf({ packed }: Head, chunks: readonly Buffer[]): string {
  if (packed !== undefined && packed.toLowerCase() !== "identity")
    return `(packed as ${packed.slice(0, 40)})`;
  return chunks.length === 0 ? "" : storable(Buffer.concat(chunks));
}

/** Bytes as text without what jsonb does not take: NUL, and halves of characters. */
export const storable = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\0", "\uFFFD");
