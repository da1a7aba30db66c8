/**
 * Receivers of webhooks in the test's own process: real HTTP servers whose replies a test changes while they run, and
 * which record what arrives. Many receivers share a server, each under a path of its own; `startReceivers` again gives
 * another port.
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
import { give, ok, type Reply } from "./receiver-replies.ts";

export * from "./receiver-replies.ts";

/** The fields of an event's body that tests look at; `data` is theirs to read. */
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
  /** When the whole request had arrived, ms since the epoch. */
  readonly at: number;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it arrived. */
  readonly body: string;
  /** `webhook-id`, empty without one. */
  readonly id: string;
  /** How it was replied to. */
  readonly reply: Reply;
  /** When it was, or when its client hung up, ms since the epoch; null until then. */
  readonly overAt: number | null;
};

/** The event in a request. @throws when the body is none */
export const eventOf = ({ body }: Received): ReceivedEvent => eventSchema.parse(JSON.parse(body));
/** True for a request that was answered with 2xx, so that its sender knows it has arrived. */
export const wasTaken = ({ reply }: Received): boolean =>
  reply.kind === "answer" && reply.status >= 200 && reply.status < 300;

/** A reply for every request from now on, or one for each: `n` counts this receiver's requests from 0. */
export type Manner = Reply | ((n: number, request: Omit<Received, "reply" | "overAt">) => Reply);

/** Gives the replies in turn, again and again. */
export const flapping =
  (...replies: readonly [Reply, ...Reply[]]): Manner =>
  (n) =>
    replies[n % replies.length] ?? replies[0];

export type Receiver = {
  readonly url: string;
  /** What has arrived, oldest first. */
  readonly requests: readonly Received[];
  /** Replies to requests from now on; those at hand keep theirs. */
  readonly behave: (manner: Manner) => void;
  /** Requests that are being replied to just now. */
  readonly underWay: () => number;
  /** The most requests that were being replied to at the same moment. */
  readonly mostAtOnce: () => number;
  /** Forgets what has arrived. */
  readonly forget: () => void;
  /** Waits until so many requests have arrived, and resolves to all of them. */
  readonly received: (count: number, timeoutMs?: number) => Promise<readonly Received[]>;
};

export type Receivers = {
  /** The server's origin. */
  readonly url: string;
  /** The receiver of this path, which answers 200 until told otherwise; the same one for the same name. */
  readonly at: (name: string) => Receiver;
  /** The server ends, with every connection; what is sent to it now is refused. */
  readonly close: () => Promise<void>;
  /** Back on the same port. */
  readonly open: () => Promise<void>;
};

/** Longer bodies are no events of ours. */
const BODY_BYTES = 256 * 1024;
/** What one receiver records; a sender that runs wild fails its test, and does not fill the memory. */
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

type Hidden = Receiver & {
  readonly serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

function createReceiver(url: string): Hidden {
  let manner: Manner = ok;
  let requests: Received[] = [];
  let count = 0;
  let atOnce = 0;
  let most = 0;
  return {
    url,
    get requests() {
      return requests;
    },
    behave(next) {
      manner = next;
    },
    underWay: () => atOnce,
    mostAtOnce: () => most,
    forget() {
      requests = [];
    },
    received: (wanted, timeoutMs = 60_000) =>
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
      const reply = typeof manner === "function" ? manner(count, arrived) : manner;
      count += 1;
      if (requests.length >= REQUESTS) throw new Error(`${url} has more than ${REQUESTS} requests`);
      const received: Received & { overAt: number | null } = { ...arrived, reply, overAt: null };
      requests.push(received);
      atOnce += 1;
      most = Math.max(most, atOnce);
      try {
        await give(reply, response);
      } finally {
        atOnce -= 1;
        received.overAt = Date.now();
      }
    },
  };
}

/** Starts a server of receivers; it ends with the test file. */
export async function startReceivers(): Promise<Receivers> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const receivers = new Map<string, Hidden>();
  let server: Server | undefined;

  function at(name: string): Hidden {
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
    // The senders keep connections; the one that is closed under them is a fault of its own, for the tests of that.
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

/** Seconds by which the time in a signature may differ from the receiver's clock. */
const TOLERANCE_S = 300;

/**
 * Expects that a request is signed with these secrets, newest first, as the spec and the Standard Webhooks say. Written
 * on its own: neither the sender's code nor the receiver's helper has a part in it.
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
