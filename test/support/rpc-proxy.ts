/** A proxy in front of the chain that can record, delay, drop and change responses. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request } from "undici";
import { z } from "zod";
import { freePort } from "../../scripts/local/ports.ts";
import { atEnd } from "./cleanup.ts";

const callSchema = z.object({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
});
const answerSchema = z.object({ id: z.unknown(), result: z.unknown(), error: z.unknown() }).partial();

export type RpcCall = z.output<typeof callSchema>;
/** A JSON-RPC response without its id. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** Thrown by an interceptor to answer the whole HTTP request with this status and no body. */
export class HttpFault extends Error {
  override name = "HttpFault";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, headers: Readonly<Record<string, string>> = {}) {
    super(`HTTP ${status}`);
    this.status = status;
    this.headers = headers;
  }
}

/** Forwards the call to the chain, or another call instead. */
export type Forward = (instead?: Pick<RpcCall, "method" | "params">) => Promise<RpcAnswer>;

/**
 * Handles one call of an HTTP request, which may contain several; `request` is the request's number. "lost" closes the
 * connection, so that the client receives no response to the request.
 */
export type Interceptor = (call: RpcCall, forward: Forward, request: number) => Promise<RpcAnswer | "lost">;

export type RpcProxy = {
  readonly url: string;
  /** Sets the interceptor; without an argument all calls are forwarded. */
  readonly intercept: (interceptor?: Interceptor) => void;
  /** Limits HTTP requests to `perSecond`, the others get 429. Without a number there is no limit. */
  readonly limit: (perSecond?: number) => void;
  /** The number of calls by method, including those in batches. */
  readonly counts: ReadonlyMap<string, number>;
  /** The number of HTTP requests. */
  readonly requests: () => number;
};

/** Returns true for requests above the rate; one second's requests may come at once. */
function tokenBucket(perSecond: number): () => boolean {
  let tokens = perSecond;
  let filledAt = Date.now();
  return () => {
    const now = Date.now();
    tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1000);
    filledAt = now;
    if (tokens < 1) return true;
    tokens -= 1;
    return false;
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Calls a JSON-RPC method that viem need not know. A stack's processes poll through proxies, and `fetch` takes thrice the CPU. */
export async function askRpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<RpcAnswer> {
  const { body } = await request(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = answerSchema.parse(await body.json());
  const parsed = z.object({ code: z.number(), message: z.string() }).loose().safeParse(error);
  return parsed.success ? { error: parsed.data } : { result: result ?? null };
}

/** Starts a proxy in front of `target`, which stops when the test file ends. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  let interceptor: Interceptor = (_call, forward) => forward();
  let requests = 0;
  let bucket = () => false;
  const counts = new Map<string, number>();

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const number = requests;
    if (bucket()) {
      response.writeHead(429, { "retry-after": "1" }).end();
      return;
    }
    const body = await bodyOf(request);
    const calls = z.array(callSchema).parse(Array.isArray(body) ? body : [body]);
    try {
      const answers = await Promise.all(
        calls.map(async (call) => {
          counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
          const forward: Forward = ({ method, params } = call) => askRpc(target, method, params);
          const answer = await interceptor(call, forward, number);
          return answer === "lost" ? answer : { jsonrpc: "2.0", id: call.id, ...answer };
        }),
      );
      if (answers.includes("lost")) {
        request.socket.destroy();
        return;
      }
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } catch (error) {
      if (error instanceof HttpFault) response.writeHead(error.status, error.headers).end();
      else request.socket.destroy();
    }
  }

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => request.socket.destroy());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    intercept: (next = (_call, forward) => forward()) => {
      interceptor = next;
    },
    limit: (perSecond) => {
      bucket = perSecond === undefined ? () => false : tokenBucket(perSecond);
    },
    counts,
    requests: () => requests,
  };
}
