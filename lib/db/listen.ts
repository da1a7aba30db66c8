import postgres from "postgres";

const RELISTEN_MS = 1000;

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

  const listening = listen();
  return {
    async close(): Promise<void> {
      closed = true;
      clearTimeout(relisten);
      await listener.end({ timeout: 1 });
      await listening;
    },
  };
}

/** After a first successful subscription, postgres.js subscribes again by itself when the connection was lost. */
function listenConnection(databaseUrl: string, { name, role }: ListenOptions) {
  return postgres(databaseUrl, {
    max: 1,
    connect_timeout: 3,
    backoff: (retries) => Math.min(0.1 * 2 ** retries, 2),
    fetch_types: false, // see `connect`
    connection: { application_name: name, ...(role === undefined ? {} : { role }) },
  });
}
