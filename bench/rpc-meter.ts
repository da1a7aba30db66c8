/** A proxy in front of a node that counts calls and can limit the request rate. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Pool } from "undici";
import { z } from "zod";

const call = z.object({ method: z.string() });

export type RpcMeter = {
  readonly url: string;
  /** Calls by method since the last reset; each call of a batch counts. */
  readonly calls: ReadonlyMap<string, number>;
  /** HTTP requests since the last reset: served, and refused with 429. */
  readonly requests: () => { served: number; refused: number };
  readonly reset: () => void;
  /** Limits HTTP requests from now on; one second's requests may come at once. */
  readonly limit: (perSecond: number) => void;
  readonly stop: () => Promise<void>;
};

export async function startRpcMeter(target: string, port: number): Promise<RpcMeter> {
  const pool = new Pool(target, { connections: 32, pipelining: 1 });
  const calls = new Map<string, number>();
  let served = 0;
  let refused = 0;
  let rate = Number.POSITIVE_INFINITY;
  let tokens = 0;
  let filledAt = performance.now();

  function mayPass(): boolean {
    if (rate === Number.POSITIVE_INFINITY) return true;
    const now = performance.now();
    tokens = Math.min(rate, tokens + ((now - filledAt) * rate) / 1000);
    filledAt = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    if (!mayPass()) {
      refused += 1;
      response.writeHead(429, { "retry-after": "1" }).end();
      return;
    }
    served += 1;
    const body = Buffer.concat(chunks);
    const asked: unknown = JSON.parse(body.toString());
    for (const { method } of z.array(call).parse(Array.isArray(asked) ? asked : [asked])) {
      calls.set(method, (calls.get(method) ?? 0) + 1);
    }
    const answer = await pool.request({
      method: "POST",
      path: "/",
      headers: { "content-type": "application/json" },
      body,
    });
    response.writeHead(answer.statusCode, { "content-type": "application/json" });
    response.end(Buffer.from(await answer.body.arrayBuffer()));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    requests: () => ({ served, refused }),
    reset() {
      calls.clear();
      served = 0;
      refused = 0;
    },
    limit(perSecond) {
      rate = perSecond;
      tokens = perSecond;
      filledAt = performance.now();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await pool.close();
    },
  };
}
