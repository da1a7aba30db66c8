/** The ways in which a receiver of webhooks answers, or does not. */
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
      /** Waits so long before it answers. */
      readonly delayMs?: number;
    }
  /** Reads the request and says nothing until the client hangs up. */
  | { readonly kind: "hang" }
  /** Reads the request and tears the connection down. */
  | { readonly kind: "reset" }
  /** Sends one header after the other, each after so many ms, and never the last. */
  | { readonly kind: "slow headers"; readonly everyMs: number }
  /** Answers with this status and a body that goes on until the client hangs up. */
  | { readonly kind: "endless body"; readonly status: number }
  /** The same, of zeros under gzip: a thousand times as long once it is unpacked. */
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
/** A client that never hangs up must not keep the test's process busy for ever. */
const ENDLESS_BYTES = 1024 ** 3;

/** Made as they are taken, each in a turn of its own, so that the process hears of the client's end in between. */
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

/** Gives the reply; resolves when it is given or when the client has hung up. Never rejects for the client's sake. */
export async function give(reply: Reply, response: ServerResponse): Promise<void> {
  const gone = response.closed ? Promise.resolve() : once(response, "close").then(() => {});
  switch (reply.kind) {
    case "answer":
      if (reply.delayMs !== undefined) await Promise.race([sleep(reply.delayMs), gone]);
      response.writeHead(reply.status, reply.headers).end(reply.body ?? "");
      return;
    case "hang":
      return gone;
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
        // Fast, and still a hundredfold; flushed, so that the client has something to unpack.
        createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH }),
        response,
      ).catch(() => {});
  }
}
