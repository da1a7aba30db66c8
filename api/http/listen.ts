/** The HTTP server around the app: what fails before a request exists is answered with the same envelope. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Front } from "../index/early-response.ts";
import type { StandingHeaders } from "./common-headers.ts";
import type { Api } from "./env.ts";
import { errorBody } from "./error-envelope.ts";

export type Listening = {
  readonly port: number;
  readonly url: string;
  /** Takes no new connections; resolves when the answers in flight are given, or were cut off after `graceMs`. */
  close(graceMs: number): Promise<void>;
};

/** A client that sends its request, or the headers alone, this slowly is cut off, in ms. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node looks for such clients, in ms; its own 30 s would be added to the limit. */
const LOOK_FOR_SLOW_MS = 2000;
/** Longer than the idle time of common load balancers, so that they close first, in ms. */
const KEEP_ALIVE_MS = 65_000;

const bytesFaults: Readonly<Record<string, [code: ErrorCode, message: string]>> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The address or the headers are too long."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request did not arrive in time."],
};

/** Answers bytes that are no HTTP request. */
function answerBadBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [code, message] = bytesFaults[error.code ?? ""] ?? [
    "validation_error",
    "The request is not valid HTTP.",
  ];
  answerOnSocket(socket, new ApiError(code, message));
}

/** Writes an answer where there is no request to answer, and ends the connection. */
function answerOnSocket(socket: Duplex, answer: ApiError): void {
  const body = JSON.stringify(errorBody(answer));
  socket.end(
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const jsonAnswer = (error: ApiError) =>
  new Response(JSON.stringify(errorBody(error)), {
    status: error.status,
    headers: { "Content-Type": "application/json" },
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

/**
 * Serves `app`, with `front` ahead of it and the `standing` headers on every answer; port 0 takes a free one. Rejects when
 * the port is taken.
 */
export async function serve(
  app: Api,
  {
    port,
    host,
    log,
    front,
    standing,
  }: { port: number; host: string; log: Logger; front: Front; standing: StandingHeaders },
): Promise<Listening> {
  const listener = getRequestListener(app.fetch, {
    hostname: "localhost", // for clients of HTTP/1.0, which send no Host
    errorHandler: (error) => {
      if (error instanceof RequestError) {
        return jsonAnswer(new ApiError("validation_error", `The request is not valid: ${error.message}.`));
      }
      log.error({ err: errorText(error) }, "failed outside of the app");
      return jsonAnswer(new ApiError("internal_error", "The service failed; try again later."));
    },
  });
  /** From the kept answers, or by the app. */
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (await front(incoming, outgoing)) return;
    for (const [name, value] of standing) outgoing.setHeader(name, value);
    await listener(incoming, outgoing);
  }
  let closing = false;
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: LOOK_FOR_SLOW_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false, // the listener answers for it, with the envelope
    },
    (incoming, outgoing) => {
      if (closing) outgoing.setHeader("Connection", "close");
      void answer(incoming, outgoing);
    },
  );
  server.on("clientError", answerBadBytes);
  server.on("connect", (_request, socket) =>
    answerOnSocket(socket, new ApiError("method_not_allowed", "CONNECT is not allowed here.")),
  );
  server.on("checkExpectation", (incoming) =>
    answerOnSocket(
      incoming.socket,
      new ApiError("validation_error", "The header Expect may only be 100-continue."),
    ),
  );
  const address = await listen(server, port, host);
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}`,
    close: (graceMs) =>
      new Promise((resolve) => {
        closing = true;
        const cut = setTimeout(() => server.closeAllConnections(), graceMs);
        // A connection that is kept alive after its last answer would hold the server open.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearTimeout(cut);
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
