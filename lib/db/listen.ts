import postgres from "postgres";
import { countSessions } from "./sessions.ts";
import { endWhenSilent, HEARTBEAT_MS } from "./silent-server.ts";

const RELISTEN_MS = 1000;
/** In ms; the connection runs no other statements than `listen`. */
const STATEMENT_TIMEOUT_MS = 3000;
/** A channel that nobody notifies: to listen to it is the heartbeat. */
const HEARTBEAT_CHANNEL = "service_heartbeat";

export type ListenOptions = {
  /** Shows in `pg_stat_activity`. */
  name: string;
  /** The Postgres role that the connection takes on, by default the login's own. */
  role?: string;
  channel: string;
  /** Called for each notification; `payload` is empty when it has none. */
  onNotification: (payload: string) => void;
  /** Called when it begins to listen, also after a reconnect: earlier notifications may have been missed. */
  onStart: () => void;
};

/** Listens on a channel with a connection of its own; it starts, and reconnects, while Postgres is down. */
export function listenTo(databaseUrl: string, options: ListenOptions) {
  const { channel, onNotification, onStart } = options;
  let closed = false;
  let relisten: NodeJS.Timeout | undefined;
  let listener = listenConnection(databaseUrl, options);

  async function listen(): Promise<void> {
    try {
      await listener.listen(channel, onNotification, onStart);
    } catch {
      if (closed) return;
      relisten = setTimeout(async () => {
        await listener.end({ timeout: 0 });
        if (closed) return;
        listener = listenConnection(databaseUrl, options);
        await listen();
      }, RELISTEN_MS);
    }
  }

  /** Lost connections are found by it alone; postgres.js then listens anew. */
  let beating = false;
  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    const heartbeat = listener.listen(HEARTBEAT_CHANNEL, () => {});
    await heartbeat.then(({ unlisten }) => unlisten()).catch(() => {});
    beating = false;
  }
  const heartbeat = setInterval(beat, HEARTBEAT_MS);

  const uncount = countSessions(1);
  const listening = listen();
  return {
    async close(): Promise<void> {
      closed = true;
      uncount();
      clearTimeout(relisten);
      clearInterval(heartbeat);
      await listener.end({ timeout: 1 });
      await listening;
    },
  };
}

/** After a first successful subscription, postgres.js subscribes again by itself when the connection was lost. */
function listenConnection(databaseUrl: string, { name, role }: ListenOptions) {
  const { parameters, ...watch } = endWhenSilent(STATEMENT_TIMEOUT_MS);
  return postgres(databaseUrl, {
    ...watch,
    max: 1,
    connect_timeout: 3,
    backoff: (retries) => Math.min(0.1 * 2 ** retries, 2),
    fetch_types: false, // see `connect`
    connection: { application_name: name, ...parameters, ...(role === undefined ? {} : { role }) },
  });
}
