import postgres from "postgres";

const RELISTEN_MS = 1000;

export type ListenOptions = {
  /** Shows in `pg_stat_activity`. */
  name: string;
  channel: string;
  /** A notification; what it carries is empty where nothing was said. */
  onHint: (payload: string) => void;
  /** It has begun to listen, or begun anew: what came before was not heard. */
  onStart: () => void;
};

/** Listens on a channel with a connection of its own; it starts, and comes back, while Postgres is away. */
export function listenTo(databaseUrl: string, { name, channel, onHint, onStart }: ListenOptions) {
  let closed = false;
  let relisten: NodeJS.Timeout | undefined;
  let listener = listenConnection(databaseUrl, name);

  async function listen(): Promise<void> {
    try {
      await listener.listen(channel, onHint, onStart);
    } catch {
      if (closed) return;
      relisten = setTimeout(async () => {
        await listener.end({ timeout: 0 });
        if (closed) return;
        listener = listenConnection(databaseUrl, name);
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

/** postgres.js subscribes again by itself after a lost connection, once the first subscription has stood. */
function listenConnection(databaseUrl: string, name: string) {
  return postgres(databaseUrl, {
    max: 1,
    connect_timeout: 3,
    backoff: (retries) => Math.min(0.1 * 2 ** retries, 2),
    fetch_types: false, // see `connect`
    connection: { application_name: name },
  });
}
