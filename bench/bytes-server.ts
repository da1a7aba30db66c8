/**
 * A TCP server that answers whatever arrives with the bytes of a file, without parsing it: `bytes-server.ts <port> <file>`. It does so
 * little that its figure shows about what the client can process.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const [port, file] = process.argv.slice(2);
const answer = readFileSync(file ?? "");
createServer((socket) => {
  socket.on("data", () => socket.write(answer));
  socket.on("error", () => socket.destroy());
}).listen(Number(port), "127.0.0.1");
