/** The replies of webhook receivers, including faulty ones. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { constants, createGzip } from "node:zlib";

export type Reply =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
      /** Waits before it replies. */
      readonly delayMs?: number;
    }
  /** Reads the request and sends nothing until the client disconnects. */
  | { readonly kind: "hang" }
  /** Reads the request and resets the connection. */
  | { readonly kind: "reset" }
  /** Sends one header every `everyMs`, without an end. */
  | { readonly kind: "slow headers"; readonly everyMs: number }
  /** Sends this status and a body without an end, until the client disconnects. */
  | { readonly kind: "endless body"; readonly status: number }
  /** The same with gzip: the uncompressed body is over a hundred times as long. */
  | { readonly kind: "gzip bomb"; readonly status: number };

export const ok: Reply = { kind: "answer", status: 200 };
export const status = (code: number, headers?: Readonly<Record<string, string>>): Reply => ({
  kind: "answer",
  status: code,
  headers,
});
export const hang: Reply = { kind: "hang" };
export const reset: Reply = { kind: "reset" };
export const slow = (delayMs: number): Reply => ({ kind: "answer", status: 200, delayMs });
export const slowHeaders = (everyMs: number): Reply => ({ kind: "slow headers", everyMs });
export const endlessBody = (code = 200): Reply => ({ kind: "endless body", status: code });
export const gzipBomb = (code = 200): Reply => ({ kind: "gzip bomb", status: code });

const CHUNK = Buffer.alloc(64 * 1024, "x");
/** A limit, in case the client never disconnects. */
const ENDLESS_BYTES = 1024 ** 3;

/** Yields each chunk in its own turn of the event loop, so that the process notices when the client disconnects. */
async function* chunks(): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < ENDLESS_BYTES; sent += CHUNK.length) {
    await new Promise((resolve) => setImmediate(resolve));
    yield CHUNK;
  }
}

async function dripHeaders({ socket }: ServerResponse, everyMs: number): Promise<void> {
  if (!socket) return;
  socket.write("HTTP/1.1 200 OK\r\n");
  for (let n = 0; !socket.destroyed; n += 1) {
    await sleep(everyMs);
    if (!socket.destroyed) socket.write(`x-slow-${n}: yes\r\n`);
  }
}

/** Sends the reply. Resolves when it is complete or the client has disconnected, and does not reject because of the client. */
export async function sendReply(reply: Reply, response: ServerResponse): Promise<void> {
  const disconnected = response.closed ? Promise.resolve() : once(response, "close").then(() => {});
  switch (reply.kind) {
    case "answer":
      if (reply.delayMs !== undefined) await Promise.race([sleep(reply.delayMs), disconnected]);
      response.writeHead(reply.status, reply.headers).end(reply.body ?? "");
      return;
    case "hang":
      return disconnected;
    case "reset":
      response.socket?.resetAndDestroy();
      return;
    case "slow headers":
      return dripHeaders(response, reply.everyMs);
    case "endless body":
      response.writeHead(reply.status, { "content-type": "text/plain" });
      return pipeline(Readable.from(chunks()), response).catch(() => {});
    case "gzip bomb":
      response.writeHead(reply.status, { "content-type": "text/plain", "content-encoding": "gzip" });
      return pipeline(
        Readable.from(chunks()),
        // Level 1 is fast and still compresses a hundredfold. Flushed, so that the client can decompress each chunk.
        createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH }),
        response,
      ).catch(() => {});
  }
}
