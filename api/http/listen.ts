/** The HTTP server around the app. Failures before a request exists are answered with the same error envelope. */
import { randomUUID } from "node:crypto";
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { CommonHeaders } from "./common-headers.ts";
import type { Api } from "./env.ts";
import { errorBody } from "./error-envelope.ts";
import { createHostCheck } from "./host.ts";
import { BAD_HOST } from "./request.ts";
import { SHOULD_RETRY, shouldRetry } from "./should-retry.ts";

export type Listening = {
  readonly port: number;
  readonly url: string;
  /** Stops accepting connections; resolves once the running requests are answered, or cut off after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

/** Longest time in which a client may send its whole request, or its headers, in ms. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node checks these limits, in ms; its default of 30 s would add to them. */
const CHECK_SLOW_MS = 2000;
/** Idle time of a connection, in ms: longer than that of common load balancers, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
/** Time after an answer without a request in which the client may close its end, in ms. */
const CLOSE_MS = 5000;

type BadBytes = readonly [code: ErrorCode, message: string];
const badBytesErrors: Readonly<Record<string, BadBytes>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The address or the headers are too long."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request did not arrive in time."],
};
const NOT_HTTP: BadBytes = ["validation_error", "The request is not valid HTTP."];

/** Writes an error to a connection without a request, and ends it. */
function answerOnSocket(socket: Duplex, answer: ApiError, commonHeaders: CommonHeaders): void {
  // Node has taken its own listener off the socket of a CONNECT: without one, a reset would end the process.
  socket.on("error", () => socket.destroy());
  const cut = setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  socket.once("close", () => clearTimeout(cut));
  const body = JSON.stringify(errorBody(answer));
  const headers = [
    ...commonHeaders,
    ["Content-Type", "application/json"],
    ["x-request-id", randomUUID()],
    [SHOULD_RETRY, shouldRetry(answer, { method: "", path: "" })],
    ["Content-Length", Buffer.byteLength(body)],
    ["Connection", "close"],
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines}\r\n${body}`);
}

const jsonAnswer = (error: ApiError) =>
  new Response(JSON.stringify(errorBody(error)), {
    status: error.status,
    headers: {
      "Content-Type": "application/json",
      "x-request-id": randomUUID(),
      // Either the request is malformed, or nobody knows what came of it.
      [SHOULD_RETRY]: "false",
    },
  });

function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("the server listens on no port"));
      else resolve(address);
    });
  });
}

type ServeOptions = {
  readonly port: number;
  readonly host: string;
  readonly log: Logger;
  readonly commonHeaders: CommonHeaders;
  /** Node closes a connection on which no byte moved for so long, in ms: longer than a call waits for its transaction. */
  readonly silenceMs: number;
};

/** Serves `app`, with the common headers on every answer; port 0 takes a free one. Rejects when the port is in use. */
export async function serve(
  app: Api,
  { port, host, log, commonHeaders, silenceMs }: ServeOptions,
): Promise<Listening> {
  const listener = getRequestListener(app.fetch, {
    hostname: "localhost", // for requests without a Host
    errorHandler: (error) => {
      if (error instanceof RequestError) {
        return jsonAnswer(new ApiError("validation_error", `The request is not valid: ${error.message}.`));
      }
      log.error({ err: errorText(error) }, "request failed outside of the app");
      return jsonAnswer(new ApiError("internal_error", "The service failed; try again later."));
    },
  });
  const hasValidHost = createHostCheck();
  let closing = false;
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_SLOW_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false, // the app answers with the envelope
    },
    (incoming, outgoing) => {
      // The app refuses it like any other bad request; with the host as sent, no URL could be made for the app.
      if (!hasValidHost(incoming)) incoming.headers.host = BAD_HOST;
      if (closing) outgoing.setHeader("Connection", "close");
      for (const [name, value] of commonHeaders) outgoing.setHeader(name, value);
      void listener(incoming, outgoing);
    },
  );
  server.timeout = silenceMs;
  const answer = (socket: Duplex, code: ErrorCode, message: string) =>
    answerOnSocket(socket, new ApiError(code, message), commonHeaders);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
    else answer(socket, ...(badBytesErrors[error.code ?? ""] ?? NOT_HTTP));
  });
  server.on("connect", (_request, socket) =>
    answer(socket, "method_not_allowed", "CONNECT is not allowed here."),
  );
  server.on("checkExpectation", (incoming) =>
    answer(incoming.socket, "validation_error", "The header Expect may only be 100-continue."),
  );
  const address = await listen(server, port, host);
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        closing = true;
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // A kept-alive connection would keep the server open after its last response.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
