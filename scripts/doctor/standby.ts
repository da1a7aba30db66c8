/** Checks the standby of Postgres that the api reads the index from. */
import type { Sql } from "postgres";
import type { ApiConfig } from "../../lib/config.ts";
import { API_ROLE } from "../../lib/db/api-role.ts";
import { connect } from "../../lib/db/connect.ts";
import { errorText } from "../../lib/log.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { isThisMachine } from "./secrets.ts";

const { ok, warning, fault } = findingsOf("Postgres");

/** How long a statement of the doctor may take, in ms. */
const STATEMENT_MS = 5000;

type Server = {
  /** Standbys have that of their primary. */
  systemId: string;
  standby: boolean;
  encrypted: boolean;
};

async function readServer(sql: Sql): Promise<Server> {
  const [server] = await sql<Server[]>`
    select system_identifier::text as "systemId", pg_is_in_recovery() as standby,
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted
    from pg_control_system()`;
  if (!server) throw new Error("Postgres did not tell what it is");
  return server;
}

/** The identifier of the primary; undefined while it is away, which its own check reports. */
async function readSystemId(url: string): Promise<string | undefined> {
  const { sql, close } = connect(url, { name: "doctor", max: 1, statementTimeout: STATEMENT_MS });
  try {
    return (await readServer(sql)).systemId;
  } catch {
    return undefined;
  } finally {
    await close();
  }
}

/** Checks `DATABASE_READ_URL`; a standby that cannot be read is a warning, because the primary answers then. Never rejects. */
export async function examineStandby({
  DATABASE_URL: primaryUrl,
  DATABASE_READ_URL: url,
}: Pick<ApiConfig, "DATABASE_URL" | "DATABASE_READ_URL">): Promise<Finding[]> {
  if (url === undefined) return [];
  const primaryId = await readSystemId(primaryUrl);
  const session = { name: "doctor", role: API_ROLE, max: 1, statementTimeout: STATEMENT_MS };
  const { sql, close } = connect(url, session);
  try {
    const { systemId, standby, encrypted } = await readServer(sql);
    const findings: Finding[] = [];
    if (primaryId !== undefined && primaryId !== systemId) {
      const text = "DATABASE_READ_URL leads to a server that is no copy of that of DATABASE_URL";
      findings.push(fault(text, "set the URL of a streaming standby of it, or remove the variable"));
    } else if (!standby) {
      const text = "DATABASE_READ_URL leads to no standby: the server is a primary, or was promoted";
      findings.push(warning(text, "set the URL of a streaming standby, or remove the variable"));
    }
    if (!encrypted && !isThisMachine(new URL(url).hostname)) {
      findings.push(
        warning(
          "the connection to the standby is not encrypted",
          "add sslmode=require to DATABASE_READ_URL, or use a network that nobody else is in",
        ),
      );
    }
    return findings.length > 0 ? findings : [ok("the api can read from the standby")];
  } catch (error) {
    return [
      warning(
        `the standby cannot be read, so reads stay with the primary: ${errorText(error)}`,
        "start the standby, or correct DATABASE_READ_URL: server, login, password and database",
      ),
    ];
  } finally {
    await close();
  }
}
