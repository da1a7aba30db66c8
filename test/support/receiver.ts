/**
 * Webhook receivers in the test's process: HTTP servers that record requests and whose replies a test can change. Several
 * receivers share a server, each with its own path. Each call of `startReceivers` uses another port.
 */
import { createHmac } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { expect } from "vitest";
import { z } from "zod";
import { freePort } from "../../scripts/local/ports.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "./cleanup.ts";
import { ok, type Reply, sendReply } from "./receiver-replies.ts";

export * from "./receiver-replies.ts";

/** The fields of an event's body; tests check `data` themselves. */
const eventSchema = z.object({
  id: z.string(),
  type: z.string(),
  version: z.number(),
  createdAt: z.string(),
  chainId: z.number(),
  blockNumber: z.string().nullable(),
  blockHash: z.string().nullable(),
  txHash: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type ReceivedEvent = z.output<typeof eventSchema>;

export type Received = {
  /** The time at which the whole request had arrived, ms since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The unparsed body. */
  readonly body: string;
  /** The header `webhook-id`; empty without one. */
  readonly id: string;
  /** The reply to the request. */
  readonly reply: Reply;
  /** The time at which the reply was complete or the client disconnected, ms since the epoch; null until then. */
  readonly overAt: number | null;
};

/** The event in a request. @throws when the body is no event. */
export const eventOf = ({ body }: Pick<Received, "body">): ReceivedEvent =>
  eventSchema.parse(JSON.parse(body));
/** True for a request with a 2xx reply. */
export const wasTaken = ({ reply }: Received): boolean =>
  reply.kind === "answer" && reply.status >= 200 && reply.status < 300;

/** One reply for all requests, or a function that chooses it; `n` counts this receiver's requests from 0. */
export type ReplyRule = Reply | ((n: number, request: Omit<Received, "reply" | "overAt">) => Reply);

/** Repeats the replies in turn. */
export const flapping =
  (...replies: readonly [Reply, ...Reply[]]): ReplyRule =>
  (n) =>
    replies[n % replies.length] ?? replies[0];

export type Receiver = {
  readonly url: string;
  /** The received requests, oldest first. */
  readonly requests: readonly Received[];
  /** Sets the reply to future requests. */
  readonly behave: (rule: ReplyRule) => void;
  /** The number of requests without a complete reply. */
  readonly underWay: () => number;
  /** The highest number of requests without a complete reply so far. */
  readonly mostAtOnce: () => number;
  /** Deletes the recorded requests. */
  readonly forget: () => void;
  /** The challenges of new webhooks, which it echoes and does not count as requests. */
  readonly challenges: readonly Received[];
  /** Waits until so many requests have arrived. @returns all of them. */
  readonly received: (count: number, timeoutMs?: number) => Promise<readonly Received[]>;
};

export type Receivers = {
  /** The server's origin. */
  readonly url: string;
  /** The receiver of this path, which replies 200 by default. The same name gives the same receiver. */
  readonly at: (name: string) => Receiver;
  /** Stops the server and closes its connections; new connections are refused. */
  readonly close: () => Promise<void>;
  /** Starts the server again on the same port. */
  readonly open: () => Promise<void>;
};

/** The service sends no longer bodies. */
const BODY_BYTES = 256 * 1024;
/** The most requests that a receiver records, so that a sender in an endless loop does not fill the memory. */
const REQUESTS = 200_000;

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > BODY_BYTES) throw new Error(`a body of more than ${BODY_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

type ServingReceiver = Receiver & {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

function createReceiver(url: string): ServingReceiver {
  let rule: ReplyRule = ok;
  let requests: Received[] = [];
  const challenges: Received[] = [];
  let count = 0;
  let atOnce = 0;
  let most = 0;
  return {
    url,
    get requests() {
      return requests;
    },
    behave(next) {
      rule = next;
    },
    challenges,
    underWay: () => atOnce,
    mostAtOnce: () => most,
    forget() {
      requests = [];
    },
    received: (wanted, timeoutMs) =>
      waitFor({
        what: `${wanted} requests at ${url}`,
        probe: () => (requests.length >= wanted ? requests : undefined),
        timeoutMs,
        intervalMs: 10,
      }),
    async serve(request, response) {
      const body = await bodyOf(request);
      const { method = "", headers } = request;
      const arrived = { at: Date.now(), method, headers, body, id: String(headers["webhook-id"] ?? "") };
      if (body.includes('"webhook_challenge"')) {
        challenges.push({ ...arrived, reply: ok, overAt: null });
        response.writeHead(200).end(/"challenge"\s*:\s*"(\w+)"/.exec(body)?.[1]);
        return;
      }
      const reply = typeof rule === "function" ? rule(count, arrived) : rule;
      count += 1;
      if (requests.length >= REQUESTS) throw new Error(`${url} has more than ${REQUESTS} requests`);
      const received: Received & { overAt: number | null } = { ...arrived, reply, overAt: null };
      requests.push(received);
      atOnce += 1;
      most = Math.max(most, atOnce);
      try {
        await sendReply(reply, response);
      } finally {
        atOnce -= 1;
        received.overAt = Date.now();
      }
    },
  };
}

/** Starts a server of receivers, which stops when the test file ends. */
export async function startReceivers(): Promise<Receivers> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const receivers = new Map<string, ServingReceiver>();
  let server: Server | undefined;

  function at(name: string): ServingReceiver {
    const known = receivers.get(`/${name}`) ?? createReceiver(`${url}/${name}`);
    receivers.set(`/${name}`, known);
    return known;
  }
  async function open(): Promise<void> {
    const next = createServer((request, response) => {
      const receiver = receivers.get(request.url ?? "");
      if (!receiver) response.writeHead(404).end();
      else receiver.serve(request, response).catch(() => request.socket.destroy());
    });
    // Senders reuse connections. Only tests of that fault close one under them.
    next.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve, reject) => {
      next.once("error", reject);
      next.listen(port, "127.0.0.1", 4096, resolve);
    });
    server = next;
  }
  async function close(): Promise<void> {
    const ending = server;
    server = undefined;
    if (!ending) return;
    const closed = new Promise((resolve) => ending.close(resolve));
    ending.closeAllConnections();
    await closed;
  }
  atEnd(close);
  await open();
  return { url, at, close, open };
}

/** The most seconds between the time in a signature and the receiver's clock. */
const TOLERANCE_S = 300;

/**
 * Expects a request to be signed with these secrets, newest first, by the specification and Standard Webhooks. It uses
 * neither the sender's code nor the receiver's helper.
 */
export function expectSigned({ headers, body, at }: Received, secrets: readonly [string, ...string[]]): void {
  const id = headers["webhook-id"];
  const timestamp = Number(headers["webhook-timestamp"]);
  expect(Math.abs(at / 1000 - timestamp)).toBeLessThan(TOLERANCE_S);
  expect(JSON.parse(body)).toMatchObject({ id });
  const hex = secrets.map((secret) => createHmac("sha256", secret).update(body).digest("hex"));
  expect(headers["x-service-signature"]).toBe(hex[0]);
  expect(headers["x-service-signature-previous"]).toBe(hex[1]);
  const standard = secrets.map((secret) =>
    createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64"),
  );
  expect(headers["webhook-signature"]).toBe(standard.map((signature) => `v1,${signature}`).join(" "));
}
