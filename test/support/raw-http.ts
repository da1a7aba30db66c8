/** Requests as bytes, for what no HTTP client sends. */
import { connect } from "node:net";

/** Sends raw bytes, and returns what comes first; then it closes the connection. */
export function firstAnswer(apiUrl: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(apiUrl).port), "127.0.0.1", () => socket.write(bytes));
    socket.once("data", (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
    socket.on("error", reject);
    socket.setTimeout(20_000, () => reject(new Error("no answer")));
  });
}

/** Sends raw bytes and returns the response once the server has closed the connection. */
export function sendBytes(apiUrl: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(new URL(apiUrl).port), "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("close", () => resolve(received));
    socket.on("error", reject);
    socket.setTimeout(20_000, () => reject(new Error(`connection still open after: ${received}`)));
  });
}
