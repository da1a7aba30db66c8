/** A proxy in front of Postgres or Redis that can cut its connections, or swallow all that a client sends. */
import { createServer, connect as dial, type Socket } from "node:net";
import { Transform } from "node:stream";
import { freePort } from "../../scripts/local/ports.ts";
import { atEnd } from "./cleanup.ts";

export type TcpProxy = {
  /** The server's URL through the proxy. */
  readonly url: string;
  /** Closes every connection and refuses new ones, like a stopped server. */
  readonly cut: () => Promise<void>;
  /** Resets every connection towards its client, like a host that fails; new ones are accepted. */
  readonly reset: () => void;
  /** Accepts connections again on the same port. */
  readonly mend: () => Promise<void>;
  /** The server's host is gone, and another takes its place: open connections stay open, and nothing comes back. */
  readonly vanish: () => void;
  /** Forwards the next bytes that `isLast` is true for, and nothing more on their connection: like a suspended process. */
  readonly swallowAfter: (isLast: (sent: Buffer) => boolean) => void;
};

/** Starts a proxy in front of the server at the URL `target`, which stops when the test file ends. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  /** Makes each open connection silent towards its client. */
  const silence = new Map<Socket, () => void>();
  let isLast: (sent: Buffer) => boolean = () => false;
  // Half open: a client that closes its connection to a server that is gone gets no answer to that either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = dial(Number(port), hostname);
    let silent = false;
    silence.set(client, () => {
      silent = true;
      client.unpipe().resume();
      upstream.unpipe().destroy();
    });
    let swallowing = false;
    const untilLast = new Transform({
      transform(sent: Buffer, _encoding, forward) {
        forward(null, swallowing ? undefined : sent);
        if (swallowing || !isLast(sent)) return;
        swallowing = true;
        isLast = () => false;
      },
    });
    client.pipe(untilLast).pipe(upstream).pipe(client);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        open.delete(from);
        silence.delete(from);
        if (!(silent && to === client)) to.destroy();
      });
    }
  });
  // Not a port that the system may give to a client while the proxy is cut.
  const ownPort = await freePort();
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(ownPort, "127.0.0.1", resolve);
    });
  await listen();
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String(ownPort);

  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  atEnd(async () => {
    if (server.listening) await cut();
  });
  return {
    url: url.href,
    cut,
    reset() {
      for (const client of silence.keys()) client.resetAndDestroy();
    },
    mend: listen,
    vanish() {
      for (const fallSilent of silence.values()) fallSilent();
    },
    swallowAfter(condition) {
      isLast = condition;
    },
  };
}
