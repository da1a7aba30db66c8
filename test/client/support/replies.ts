/** A server that gives the answers of a list, for tests of what the client sends. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { atEnd } from "../../support/cleanup.ts";

export type Reply = (request: IncomingMessage, response: ServerResponse) => void;

/** A request as it arrived. */
export type Seen = {
  readonly method: string | undefined;
  /** Path and query. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON; undefined without a body. */
  readonly body: unknown;
};

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString();
  return text === "" ? undefined : JSON.parse(text);
}

/** Serves the replies in their order, the last one for ever, and keeps the requests. */
export async function serve(...replies: Reply[]): Promise<{ baseUrl: string; seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = await bodyOf(request);
    const reply = replies[Math.min(seen.length, replies.length - 1)];
    seen.push({ method, url, headers, body });
    reply?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  atEnd(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { baseUrl: `http://127.0.0.1:${address.port}`, seen };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Reply =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
