/** A proxy in front of the api that loses, delays and cuts answers, and answers for it. The same seed gives the same faults. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { atEnd } from "../../support/cleanup.ts";

export const faults = ["lost answer", "lost request", "cut answer", "429", "503", "delay", "none"] as const;
export type Fault = (typeof faults)[number];

/** Of a hundred requests. */
const shares: Readonly<Record<Fault, number>> = {
  "lost answer": 20,
  "lost request": 5,
  "cut answer": 5,
  "429": 5,
  "503": 5,
  delay: 10,
  none: 50,
};

/** Longest delay of a delayed answer, in ms. */
const DELAY_MS = 500;

/** Numbers from 0 to 1 (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function faultAt(point: number): Fault {
  let rest = 100 * point;
  return (
    faults.find((fault) => {
      rest -= shares[fault];
      return rest < 0;
    }) ?? "none"
  );
}

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Sends a request on to the api, and reads its whole answer. */
async function forward(target: URL, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const { method, url = "/", headers } = incoming;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname, port } = target;
    const outgoing = send({ hostname, port, method, path: url, headers, agent: false }, resolve);
    outgoing.on("error", reject).end(body);
  });
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await bodyOf(answer) };
}

export type FaultyProxy = {
  readonly url: string;
  /** Makes faults from now on; before, all requests pass. */
  readonly start: () => void;
  readonly counts: ReadonlyMap<Fault, number>;
};

/** Starts the proxy in front of the api at `target`; it stops when the test file ends. */
export async function startFaultyProxy(target: string, seed: number): Promise<FaultyProxy> {
  const api = new URL(target);
  const next = random(seed);
  const counts = new Map<Fault, number>();
  let isFaulty = false;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const fault = isFaulty ? faultAt(next()) : "none";
    if (isFaulty) counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const body = await bodyOf(incoming);
    if (fault === "lost request") return void incoming.socket.destroy();
    if (fault === "429" || fault === "503") {
      outgoing
        .writeHead(Number(fault), { "retry-after": "1", "content-type": "text/html" })
        .end("<html>busy</html>");
      return;
    }
    const { status, headers, body: answered } = await forward(api, incoming, body);
    if (fault === "lost answer") return void incoming.socket.destroy();
    if (fault === "delay") await sleep(DELAY_MS * next());
    outgoing.writeHead(status, headers);
    if (fault !== "cut answer") return void outgoing.end(answered);
    // A half of it arrives, and then the connection ends.
    outgoing.write(answered.subarray(0, Math.floor(answered.length / 2)), () => outgoing.destroy());
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  atEnd(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  return {
    url: `http://127.0.0.1:${address.port}`,
    start: () => {
      isFaulty = true;
    },
    counts,
  };
}
