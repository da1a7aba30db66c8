/**
 * A receiver of webhooks in a process of its own, as light as can be: `webhooks-receiver.ts <port> …`. It reads from a
 * request its path and its length and nothing else, so that on two cores little of the time is its own.
 * `/good/<n>` answers 200, `/bad/<n>` 500, `/hang/<n>` never; `/counts` tells what `/good/` has got, `/forget` starts anew.
 */
import { createServer, type Socket } from "node:net";

const OK = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
const BAD = Buffer.from("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Arrivals at `/good/…`: how many by path, and the time of each, ms since the epoch. */
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
  if (path === "/forget") {
    byPath = new Map();
    arrivals = [];
    return OK;
  }
  return BAD;
}

function serve(socket: Socket): void {
  let waiting = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    // One character for each byte, whatever the text is in.
    waiting += chunk.toString("latin1");
    for (;;) {
      const end = waiting.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = waiting.slice(0, end);
      const whole = end + 4 + Number(LENGTH.exec(head)?.[1] ?? 0);
      if (waiting.length < whole) return;
      waiting = waiting.slice(whole);
      const [, path = ""] = head.split(" ", 2);
      const answer = reply(path);
      if (answer) socket.write(answer);
    }
  });
}

for (const port of process.argv.slice(2).map(Number)) {
  createServer(serve).listen({ port, host: "127.0.0.1", backlog: 4096 });
}
