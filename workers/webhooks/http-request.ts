import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { RESPONSE_BYTES } from "../../lib/webhooks/attempt.ts";

/**
 * One HTTP request with limits on time and size that no receiver can exceed. The status decides the outcome. The response body
 * is read up to the stored length and for a second at most; then the connection is dropped.
 */

/** Timeout of the response body after the status, in ms. */
const BODY_MS = 1000;

export type HttpRequest = {
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type HttpResult =
  | { kind: "answered"; status: number; retryAfter: string | undefined; response: string }
  | { kind: "failed"; error: Error }
  | { kind: "timeout" }
  /** This writer gave up; the receiver may have got the request. */
  | { kind: "aborted" };

type Head = { status: number; retryAfter: string | undefined; encoding: string | undefined };

/** Sends a POST request over `dispatcher`. Its `done` resolves within `timeoutMs` and {@link BODY_MS}. */
export function startRequest(
  dispatcher: Dispatcher,
  request: HttpRequest,
  timeoutMs: number,
): PendingRequest {
  const pending = new PendingRequest(timeoutMs);
  dispatcher.dispatch({ ...request, method: "POST", headersTimeout: 0, bodyTimeout: 0 }, pending);
  return pending;
}

/** A request in flight. It is a class because closures for each request would cost more than their work. */
export class PendingRequest implements Dispatcher.DispatchHandler {
  /** Never rejects. */
  readonly done: Promise<HttpResult>;
  #resolve: (result: HttpResult) => void = () => {};
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Head | undefined;
  #ended = false;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(timeoutMs: number) {
    this.done = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = setTimeout(PendingRequest.#timeOut, timeoutMs, this);
  }

  abort(): void {
    this.#end({ kind: "aborted" });
  }

  static #timeOut(pending: PendingRequest): void {
    pending.#end({ kind: "timeout" });
  }
  static #cutBody(pending: PendingRequest): void {
    pending.#answered();
  }

  #end(result: HttpResult): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#resolve(result);
    // After a complete response there is no controller: the connection stays open for the next request.
    this.#controller?.abort(new Error("the rest of the response is not needed"));
  }

  #answered(): void {
    const head = this.#head;
    if (!head) return;
    const { status, retryAfter } = head;
    this.#end({ kind: "answered", status, retryAfter, response: textOf(head, this.#chunks) });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended) controller.abort(new Error("the request has ended"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational responses may come first.
    if (status < 200 || this.#head) return;
    const encoding = firstOf(headers["content-encoding"]);
    this.#head = { status, retryAfter: firstOf(headers["retry-after"]), encoding };
    clearTimeout(this.#timer);
    if (!this.#ended) this.#timer = setTimeout(PendingRequest.#cutBody, BODY_MS, this);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended) return;
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

const firstOf = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** The stored part of a body as text. A compressed body is never decompressed, because it may be a zip bomb. */
function textOf({ encoding }: Head, chunks: readonly Buffer[]): string {
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return `(compressed with ${encoding.slice(0, 40)})`;
  }
  return chunks.length === 0 ? "" : storableText(Buffer.concat(chunks));
}

/** Bytes as text without the NUL characters and incomplete characters that jsonb rejects. */
export const storableText = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\0", "\uFFFD");
