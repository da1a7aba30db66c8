/** A subscriber's server for the demo. It accepts only deliveries signed with its webhook's secret. */
import { createServer } from "node:http";
import { verifyWebhook, type WebhookEvent } from "../../lib/webhooks/receiver.mjs";

export type Receiver = {
  readonly url: string;
  /** Accepts deliveries signed with this secret. */
  trust(secret: string): void;
  /** Resolves to the first event, past or future, that `test` accepts. @throws after `timeoutMs`. */
  event(test: (event: WebhookEvent) => boolean, timeoutMs: number): Promise<WebhookEvent>;
  close(): void;
};

/** Starts the server on a free local port. */
export async function startReceiver(): Promise<Receiver> {
  const secrets: string[] = [];
  const events: WebhookEvent[] = [];
  const waiting = new Set<() => void>();

  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      events.push(verifyWebhook(Buffer.concat(chunks), request.headers, secrets));
      response.writeHead(204).end();
      for (const look of waiting) look();
    } catch (error) {
      response.writeHead(401).end(error instanceof Error ? error.message : String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");

  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    trust: (secret) => secrets.push(secret),
    event: (test, timeoutMs) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = events.find(test);
          if (found) end(() => resolve(found));
        };
        const late = () => end(() => reject(new Error("the webhook received no such event")));
        const timer = setTimeout(late, timeoutMs);
        const end = (settle: () => void) => {
          clearTimeout(timer);
          waiting.delete(look);
          settle();
        };
        waiting.add(look);
        look();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
