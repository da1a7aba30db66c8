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
export type Running = { readonly done: Promise<Exchange>; stop(): void };

/** Sends one POST over `dispatcher`; `done` never rejects, and settles within `timeoutMs` and {@link BODY_MS}. */
export function startExchange(dispatcher: Dispatcher, request: Request, timeoutMs: number): Running {
  let settle: (exchange: Exchange) => void = () => {};
  const done = new Promise<Exchange>((resolve) => {
    settle = resolve;
  });
  let controller: Dispatcher.DispatchController | undefined;
  let head: Head | undefined;
  let over = false;
  const chunks: Buffer[] = [];
  let size = 0;
  let bell = setTimeout(() => end({ kind: "late" }), timeoutMs);

  function end(exchange: Exchange): void {
    if (over) return;
    over = true;
    clearTimeout(bell);
    settle(exchange);
    // What has been answered in full is not touched: its connection serves the next one.
    controller?.abort(new Error("the rest is of no interest"));
  }

  function answered(): void {
    if (head) end({ kind: "answered", ...head, response: textOf(head, chunks) });
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (over) started.abort(new Error("it is too late"));
    },
    onResponseStart(_controller, status, headers) {
      // Informational answers may come before the answer.
      if (status < 200 || head) return;
      head = { status, retryAfter: one(headers["retry-after"]), packed: one(headers["content-encoding"]) };
      clearTimeout(bell);
      if (!over) bell = setTimeout(answered, BODY_MS);
    },
    onResponseData(_controller, chunk) {
      if (over) return;
      chunks.push(chunk.subarray(0, RESPONSE_BYTES - size));
      size += chunk.length;
      if (size >= RESPONSE_BYTES) answered();
    },
    onResponseEnd() {
      controller = undefined;
      answered();
    },
    onResponseError(_controller, error) {
      controller = undefined;
      if (head) answered();
      else end({ kind: "failed", error });
    },
  };
  dispatcher.dispatch({ ...request, method: "POST", headersTimeout: 0, bodyTimeout: 0 }, handler);
  return { done, stop: () => end({ kind: "stopped" }) };
}

const one = (header: string | string[] | undefined) => (Array.isArray(header) ? header[0] : header);

/** The kept part of a body as text that Postgres can store. It is never unpacked: a bomb would go off. */
function textOf({ packed }: Head, chunks: readonly Buffer[]): string {
  if (packed !== undefined && packed.toLowerCase() !== "identity")
    return `(packed as ${packed.slice(0, 40)})`;
  return storable(Buffer.concat(chunks));
}

/** Bytes as text without what jsonb does not take: NUL, and halves of characters. */
export const storable = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\0", "\uFFFD");
