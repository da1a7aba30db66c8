/**
 * A database's host can vanish without closing its connections: they stay open, and nothing comes back. The time limits of
 * Postgres end with it, so each connection has one on this side too.
 */
import { Socket } from "node:net";

/** Intervals are counted and not clocks: a process that was suspended first reads what came in the meantime. */
const CHECK_MS = 1000;
/** Added to a statement's own time limit before its connection counts as dead, in ms: for the network, and a busy process. */
const GRACE_MS = 3000;
/** An unused connection closes after this time, in seconds: nobody would notice that its server is gone. */
const IDLE_SECONDS = 5;
/** How long TCP waits before it asks a silent peer, in seconds. */
const KEEP_ALIVE_SECONDS = 5;
/** A connection that must stay open without statements, a listener's, asks for a sign of life this often, in ms. */
export const HEARTBEAT_MS = 3000;

const watched = new Set<Socket>();

/** The connections of this process that are open at present. */
export const openConnections = (): number =>
  [...watched].filter(({ readyState }) => readyState === "open").length;

/**
 * A socket that is destroyed once it has received nothing for longer than a statement may take, counted from the last byte that
 * came or, if later, from the first that was sent after it. Statements that wait on it fail as with any lost connection: they
 * may have run. It counts bytes and reads none, so it works below TLS.
 *
 * @param statementTimeout of the server, in ms; 0 for none, and then only TCP's own keep-alive finds a server that is gone.
 */
export function watchedSocket(statementTimeout: number): Socket {
  const socket = new Socket();
  watched.add(socket);
  const ms = statementTimeout === 0 ? Number.POSITIVE_INFINITY : statementTimeout + GRACE_MS;
  let received = 0;
  /** Bytes sent when the last ones came; undefined once more were sent. */
  let sent: number | undefined = 0;
  let silent = 0;
  const timer = setInterval(() => {
    silent += 1;
    if (socket.bytesRead !== received) {
      received = socket.bytesRead;
      sent = socket.bytesWritten;
      silent = 0;
    } else if (sent !== undefined && socket.bytesWritten !== sent) {
      sent = undefined;
      silent = 0;
    }
    // The drivers remove all listeners when TLS begins, so there is no "close" to wait for.
    if (socket.destroyed) {
      clearInterval(timer);
      watched.delete(socket);
    } else if (silent * CHECK_MS >= ms) socket.destroy();
  }, CHECK_MS).unref();
  return socket;
}

/** As postgres.js has read them from the URL and the environment. */
type Target = {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path: string | false;
};

/**
 * Options of postgres.js for connections that end when the server is silent.
 *
 * @param statementTimeout as in {@link watchedSocket}; without one, an unused connection stays open
 */
export function endWhenSilent(statementTimeout: number) {
  function socket({ host: [host], port: [port], path }: Target): Socket {
    const opened = watchedSocket(statementTimeout);
    // postgres.js takes the name that a certificate must have from here.
    Object.assign(opened, { host, port });
    if (path) return opened.connect(path);
    if (host === undefined || port === undefined) throw new Error("the database's URL names no host");
    return opened.connect(port, host);
  }
  const options = { keep_alive: KEEP_ALIVE_SECONDS, socket };
  return statementTimeout === 0 ? options : { ...options, idle_timeout: IDLE_SECONDS };
}
