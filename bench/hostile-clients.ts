/**
 * Hostile clients in their own process: `hostile-clients.ts <port> <non-readers> <slow bodies> <slow readers>`. Non-readers
 * take nothing of their answers. Slow bodies send one byte a second. Slow readers pipeline the largest answer and together
 * take it as fast as a gigabit line lets them. A client that is cut off comes back after a second.
 */
import { connect, type Socket } from "node:net";

const [port = 0, nonReaders = 0, slowBodies = 0, slowReaders = 0] = process.argv.slice(2).map(Number);
const SECOND_MS = 1000;
/** Within this time the api cuts off who takes nothing; who reads nothing does not see it. */
const CUT_OFF_MS = 46_000;
/** The bytes that all slow readers take in a millisecond. */
const LINE = 125_000;

let opened = 0;
/** A client address for each connection: no limit by address stops them. */
function nextAddress(): string {
  opened += 1;
  return `10.${opened >> 16}.${(opened >> 8) & 255}.${opened & 255}`;
}

/** The largest answer: 3.6 MB. */
const askForScript = (times: number) =>
  `GET /api-docs/scalar.js HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${nextAddress()}\r\n\r\n`.repeat(times);

/** Opens a connection for a client, and another one whenever it is closed. */
function open(attack: (socket: Socket) => void): void {
  const socket = connect(port, "127.0.0.1");
  socket.on("connect", () => attack(socket));
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(open, SECOND_MS, attack));
}

/** With both, 9,900 requests wait behind others of their connections: the api bears 10,000. */
function neverRead(socket: Socket): void {
  socket.pause();
  socket.write(askForScript(6));
  setTimeout(() => socket.destroy(), CUT_OFF_MS);
}
function readSlowly(socket: Socket): void {
  socket.write(askForScript(50));
  socket.on("data", ({ length }) => {
    socket.pause();
    setTimeout(() => socket.resume(), (length * slowReaders) / LINE);
  });
}

function sendSlowly(socket: Socket): void {
  socket.resume();
  socket.write(
    `POST /api/v1/agent/onboard HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${nextAddress()}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
  );
  const drip = setInterval(() => socket.write(" "), SECOND_MS);
  socket.on("close", () => clearInterval(drip));
}

const clients = [
  ...Array<typeof neverRead>(nonReaders).fill(neverRead),
  ...Array<typeof neverRead>(slowBodies).fill(sendSlowly),
  ...Array<typeof neverRead>(slowReaders).fill(readSlowly),
];
for (const [ms, attack] of clients.entries()) setTimeout(open, ms, attack); // no burst of all at once
