import postgres from "postgres";
import { countSessions } from "./sessions.ts";
import { endWhenSilent, HEARTBEAT_MS } from "./silent-server.ts";

/** Between two attempts to listen while Postgres is away, in ms. */
const RELISTEN_MS = 1000;
/** In ms; the connection runs no other statements than `listen`. */
const STATEMENT_TIMEOUT_MS = 3000;

export type ListenOptions = {
  /** Shows in `pg_stat_activity`. */
  name: string;
  channel: string;
  /** Called for each notification; `payload` is empty when it has none. */
  onNotification: (payload: string) => void;
  /** Called when it begins to listen, also after a reconnect: earlier notifications may have been missed. */
  onStart: () => void;
};

/**
 * Listens on a channel with a connection of its own; it starts, and reconnects, while Postgres is down. Not with the `listen` of
 * postgres.js, which sends nothing for a channel that it knows, and so has no heartbeat to find a lost connection.
 */
export function listenTo(databaseUrl: string, { name, channel, ...on }: ListenOptions) {
  let closed = false;
  let listening = false;
  let next: NodeJS.Timeout | undefined;

  // postgres.js has this option, and its types do not name it.
  const notifications = { onnotify: (_channel: string, payload: string) => on.onNotification(payload) };
  const sql = postgres(databaseUrl, {
    ...endWhenSilent(STATEMENT_TIMEOUT_MS),
    ...notifications,
    max: 1,
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 3,
    backoff: false,
    fetch_types: false, // see `connect`
    connection: { application_name: name },
    onclose: () => {
      if (listening) listenIn(0);
      listening = false;
    },
  });

  /** On a connection that listens already it changes nothing, and is the heartbeat. */
  async function listen(): Promise<void> {
    try {
      await sql.unsafe(`listen "${channel.replaceAll('"', '""')}"`);
      if (!listening) on.onStart();
      listening = true;
    } catch {
      // The next attempt connects anew if the connection was lost.
    }
    listenIn(listening ? HEARTBEAT_MS : RELISTEN_MS);
  }

  function listenIn(ms: number): void {
    clearTimeout(next);
    if (!closed) next = setTimeout(listen, ms);
  }

  const uncount = countSessions(1);
  void listen();
  return {
    async close(): Promise<void> {
      closed = true;
      uncount();
      clearTimeout(next);
      await sql.end({ timeout: 1 });
    },
  };
}
