/**
 * A webhook receiver in its own process: `webhook-receiver.ts <port>`. It parses only the path and the length of a request, to leave
 * the CPU to the service. `/counts` returns the arrivals so far with the time of the first and the last, `/reset` sets them to zero.
 */
import { createServer, type Socket } from "node:net";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const LENGTH = /\r\ncontent-length: *(\d+)/i;

let [total, first, last] = [0, 0, 0];

function reply(path: string): string {
  if (path === "/counts") {
    const body = JSON.stringify({ total, first, last });
    return `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }
  if (path === "/reset") [total, first, last] = [0, 0, 0];
  else {
    last = Date.now();
    if (total === 0) first = last;
    total += 1;
  }
  return OK;
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
      socket.write(reply(path));
    }
  });
}

createServer(serve).listen({ port: Number(process.argv[2]), host: "127.0.0.1", backlog: 4096 });
