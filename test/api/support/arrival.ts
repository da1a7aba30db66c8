/** Sends requests and tells a test when the server has received them, before it answers. */
import { request as open } from "node:http";
import type { HttpAnswer } from "../../support/http.ts";

export type Arrival = {
  /** Resolves once the head of the request is in the buffer of the api's socket, even if the api's process is stopped. */
  readonly sent: Promise<void>;
  /** Resolves once the api's process has taken the request up, and the body, if there is one, is on its way behind. */
  readonly arrived: Promise<void>;
  readonly answer: Promise<HttpAnswer>;
};

/** Sends a request that asks for `100 Continue`; Node gives it in the moment in which it hands the request to the api. */
export function send(
  url: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: unknown } = {},
): Arrival {
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
  const arrived = new Promise<void>((resolve, reject) => {
    request.once("error", reject);
    request.once("continue", () => request.end(payload, () => resolve()));
  });
  const sent = new Promise<void>((resolve, reject) => {
    request.once("error", reject);
    request.once("socket", (socket) => {
      const look = () => (socket.bytesWritten > 0 && socket.writableLength === 0 ? resolve() : undefined);
      socket.once("connect", () => {
        look();
        socket.on("drain", look);
        const timer = setInterval(look, 10);
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
  // Whoever waits for the one hears of the other's failure too.
  sent.catch(() => {});
  arrived.catch(() => {});
  answer.catch(() => {});
  request.flushHeaders();
  return { sent, arrived, answer };
}
