/**
 * A webhook receiver in its own process: `webhooks-receiver.ts <port> …`. It parses only the path and the length of a
 * request, to leave the CPU to the service. `/good/<n>` answers 200, `/bad/<n>` answers 500, `/hang/<n>` does not answer.
 * `/counts` returns the arrivals at `/good/`, `/reset` sets them to zero.
 */
import { createServer, type Socket } from "node:net";

const OK = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
const BAD = Buffer.from("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Arrivals at `/good/…`: their number by path, and the time of each, ms since the epoch. */
let byPath = new Map<string, number>();
let arrivals: number[] = [];

function counts(): Buffer {
  const body = JSON.stringify({
    total: arrivals.length,
    paths: byPath.size,
    least: Math.min(...(byPath.size > 0 ? byPath.values() : [0])),
    first: arrivals[0] ?? 0,
    middle: arrivals[Math.floor(arrivals.length / 2)] ?? 0,
    last: arrivals.at(-1) ?? 0,
  });
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function reply(path: string): Buffer | undefined {
  if (path.startsWith("/good/")) {
    byPath.set(path, (byPath.get(path) ?? 0) + 1);
    arrivals.push(Date.now());
    return OK;
  }
  if (path.startsWith("/hang/")) return undefined;
  if (path === "/counts") return counts();
  if (path === "/reset") {
    byPath = new Map();
    arrivals = [];
    return OK;
  }
  return BAD;
}

function serve(socket: Socket): void {
  let received = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    // latin1 gives one character for each byte.
    received += chunk.toString("latin1");
    for (;;) {
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = received.slice(0, end);
      const whole = end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (received.length < whole) return;
      received = received.slice(whole);
      const [, path = ""] = head.split(" ", 2);
      const answer = reply(path);
      if (answer) socket.write(answer);
    }
  });
}

for (const port of process.argv.slice(2).map(Number)) {
  createServer(serve).listen({ port, host: "127.0.0.1", backlog: 4096 });
}
