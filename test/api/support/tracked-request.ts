/** Sends requests and reports when the server has received them, before it responds. */
import { request as open } from "node:http";
import type { HttpAnswer } from "../../support/http.ts";

export type TrackedRequest = {
  /** Resolves once the request's headers are in the api's socket buffer, even while the api's process is stopped. */
  readonly sent: Promise<void>;
  /** Resolves once the api's process has read the request's headers and the body, if any, has been written. */
  readonly received: Promise<void>;
  readonly answer: Promise<HttpAnswer>;
};

/** Sends a request with `Expect: 100-continue`; Node sends `100 Continue` when it passes the request to the api. */
export function sendTracked(
  url: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: unknown } = {},
): TrackedRequest {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const request = open(url, {
    method: payload === undefined ? "GET" : "POST",
    headers: {
      ...(payload === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(payload)) }),
      ...headers,
      expect: "100-continue",
    },
    agent: false,
  });
  const received = new Promise<void>((resolve, reject) => {
    request.once("error", reject);
    request.once("continue", () => request.end(payload, () => resolve()));
  });
  const sent = new Promise<void>((resolve, reject) => {
    request.once("error", reject);
    request.once("socket", (socket) => {
      const check = () => (socket.bytesWritten > 0 && socket.writableLength === 0 ? resolve() : undefined);
      socket.once("connect", () => {
        check();
        socket.on("drain", check);
        const timer = setInterval(check, 10);
        socket.once("close", () => clearInterval(timer));
        sent.then(() => clearInterval(timer)).catch(() => clearInterval(timer));
      });
    });
  });
  const answer = new Promise<HttpAnswer>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.once("error", reject);
      response.once("end", () => {
        const given = new Headers();
        for (const [name, value] of Object.entries(response.headers)) given.set(name, String(value));
        const isJson = given.get("content-type")?.includes("json") ?? false;
        const json = isJson && text !== "" ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, headers: given, json, text });
      });
    });
  });
  // All three promises reject on a failure; a test that awaits one must not fail on the unhandled others.
  sent.catch(() => {});
  received.catch(() => {});
  answer.catch(() => {});
  request.flushHeaders();
  return { sent, received, answer };
}
