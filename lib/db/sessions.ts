/** Counts the sessions of Postgres that this process may open. */

/** The sum of all pools and listeners that are open. */
let most = 0;

/** Counts the connections that a pool or a listener may open, until the returned function is called. */
export function countSessions(connections: number): () => void {
  most += connections;
  let counted = connections;
  return () => {
    most -= counted;
    counted = 0;
  };
}

/** The most that this process opens, by {@link countSessions}. */
export const mostSessions = (): number => most;

/** Sessions of Ponder's pools: two for its own tables, the rest in equal parts for its index, its cache and its readers. */
export const PONDER_SESSIONS = 11;
