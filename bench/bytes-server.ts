/**
 * A TCP server that sends the bytes of a file for each request, and reads none: `bytes-server.ts <port> <file>`. No server is faster, so
 * what it reaches is what the client can take.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const [port, file] = process.argv.slice(2);
const answer = readFileSync(file ?? "");
createServer((socket) => {
  socket.on("data", () => socket.write(answer));
  socket.on("error", () => socket.destroy());
}).listen(Number(port), "127.0.0.1");
