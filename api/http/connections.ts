/** Bounds what the server keeps for its connections: their number, pipelined requests, and answers that no client takes. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../lib/log.ts";

export type ConnectionLimits = {
  /** Connections of this process. A further one is closed before its first byte. */
  readonly connections: number;
  /** Unanswered requests of one connection. With one more it is closed. */
  readonly unanswered: number;
  /** Unanswered requests behind another one of their connection, over all connections. With one more, its connection is closed. */
  readonly pipelined: number;
  /** How often connections are checked, in ms. */
  readonly checkMs: number;
  /** A connection that takes nothing between this many checks in a row is closed. */
  readonly stalledChecks: number;
};

export const connectionLimits: ConnectionLimits = {
  // About 10 kB each while idle: 100 MB.
  connections: 10_000,
  // Clients that pipeline at all have some ten requests in flight.
  unanswered: 100,
  // About 6 kB each beside the answer: 60 MB.
  pipelined: 10_000,
  // Closed within 40 to 45 seconds: the time in which a client may send a request is 30.
  checkMs: 5_000,
  stalledChecks: 8,
};

type Connection = { unanswered: number; taken: number; stalledChecks: number };

/** Passes a request on (true), or closes its connection (false). */
export type AdmitRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;

/**
 * Bytes that the system has taken from this process for the client. The handle's figures are undocumented, but they are what
 * Node's own time-out of sockets reads: the documented ones do not change within a write, and an answer is one write.
 */
function takenBytes(socket: Socket): number {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  if (typeof handle === "object" && handle !== null && "bytesWritten" in handle && "writeQueueSize" in handle)
    return Number(handle.bytesWritten) - Number(handle.writeQueueSize);
  return socket.bytesWritten - socket.writableLength;
}

/** True when the client has something to take, or, after our last byte, its end of the connection to close. */
const isAwaited = (socket: Socket) => socket.writableLength > 0 || socket.writableEnded;

/** Resets the connection: closed without a reset, the system would keep the answer for a client that may never take it. */
const cutOff = (socket: Socket) => socket.resetAndDestroy();

/** Applies the limits to a server until it closes. Calls that wait for their answer may wait as long as they like. */
export function limitConnections(server: Server, limits: ConnectionLimits, log: Logger): AdmitRequest {
  const open = new Map<Socket, Connection>();
  let pipelined = 0;
  let dropped = 0;

  server.maxConnections = limits.connections;
  server.on("drop", () => {
    dropped += 1;
  });
  server.on("connection", (socket) => {
    const connection = { unanswered: 0, taken: 0, stalledChecks: 0 };
    open.set(socket, connection);
    socket.once("close", () => {
      open.delete(socket);
      pipelined -= Math.max(0, connection.unanswered - 1);
      connection.unanswered = 0;
    });
  });

  function check(): void {
    for (const [socket, connection] of open) {
      const taken = takenBytes(socket);
      const stalled = isAwaited(socket) && taken === connection.taken;
      connection.taken = taken;
      connection.stalledChecks = stalled ? connection.stalledChecks + 1 : 0;
      if (connection.stalledChecks >= limits.stalledChecks) cutOff(socket);
    }
    if (dropped > 0) log.warn({ dropped, open: open.size }, "too many connections: new ones were closed");
    dropped = 0;
  }
  const checks = setInterval(check, limits.checkMs).unref();
  server.once("close", () => clearInterval(checks));

  /** The listener of every response, so that a request allocates none. */
  function answered(this: ServerResponse): void {
    const connection = open.get(this.req.socket);
    if (!connection || connection.unanswered === 0) return;
    connection.unanswered -= 1;
    if (connection.unanswered > 0) pipelined -= 1;
  }
  return ({ socket }, outgoing) => {
    const connection = open.get(socket);
    if (!connection) return false; // closed meanwhile
    const isPipelined = connection.unanswered > 0;
    if (connection.unanswered >= limits.unanswered || (isPipelined && pipelined >= limits.pipelined)) {
      cutOff(socket);
      return false;
    }
    connection.unanswered += 1;
    if (isPipelined) pipelined += 1;
    outgoing.on("close", answered);
    return true;
  };
}
