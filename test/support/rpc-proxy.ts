/** A node that misbehaves on command: a proxy in front of the chain that sees, delays, loses and forges answers. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
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
/** The rest of a JSON-RPC answer beside its id. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: { code: number; message: string } };

/** The whole HTTP request is answered with this status and no JSON. */
export class HttpFault extends Error {
  override name = "HttpFault";
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`HTTP ${status}`);
  }
}

/** Asks the chain: the call itself, or another one in its place. */
export type Forward = (instead?: Pick<RpcCall, "method" | "params">) => Promise<RpcAnswer>;

/**
 * Decides about one call of an HTTP request, which may carry several; `request` counts the requests. `lost` tears the
 * connection down, so that the client never learns the answers of that request.
 */
export type Interceptor = (call: RpcCall, forward: Forward, request: number) => Promise<RpcAnswer | "lost">;

export type RpcProxy = {
  readonly url: string;
  /** Replaces the interceptor; without an argument everything is passed on. */
  readonly intercept: (interceptor?: Interceptor) => void;
  /** From now on so many HTTP requests a second are served, and the others answered 429; without a number, all. */
  readonly limit: (perSecond?: number) => void;
  /** How often each method was called, batched or not. */
  readonly counts: ReadonlyMap<string, number>;
  /** How many HTTP requests arrived. */
  readonly requests: () => number;
};

/** True for what exceeds the rate; a second's worth may come at once. */
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

/** Asks a node, also for what viem has no name for. */
export async function askRpc(
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = answerSchema.parse(await response.json());
  const parsed = z.object({ code: z.number(), message: z.string() }).loose().safeParse(error);
  return parsed.success ? { error: parsed.data } : { result: result ?? null };
}

/** Starts a proxy in front of `target`; it ends with the test file. */
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
