import { errorText, type Logger } from "../log.ts";
import { connect } from "./connect.ts";
import { mostSessions } from "./sessions.ts";
import { openConnections } from "./silent-server.ts";

/**
 * Logs how many sessions of Postgres this process may open, once its pools exist. Warns when the server has less room than that
 * beside the present sessions of others: a connection beyond its limit fails, and its caller tries again. Never rejects.
 */
export async function reportSessions(databaseUrl: string, log: Logger): Promise<void> {
  const sessions = mostSessions();
  const own = openConnections();
  const { sql, close } = connect(databaseUrl, { name: "session-report", max: 1 });
  try {
    // `numbackends` because a login may not see everything of another's sessions. Only Postgres 16 and later have the second
    // reserve.
    const [room] = await sql<{ limit: number; present: number }[]>`
      select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int as limit,
        (select sum(numbackends)::int - 1 from pg_stat_database) as present`;
    if (!room) throw new Error("Postgres did not tell its limits");
    const figures = { sessions, limit: room.limit, others: Math.max(0, room.present - own) };
    log.info(
      figures,
      "sessions of Postgres: the most that this process opens, the server's limit, and others'",
    );
    if (sessions > figures.limit - figures.others) {
      log.warn(figures, "Postgres has too few sessions left for this process: raise its max_connections");
    }
  } catch (error) {
    log.warn({ err: errorText(error) }, "the sessions of Postgres could not be counted");
  } finally {
    await close();
  }
}
