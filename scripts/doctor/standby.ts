/** Checks the standby of Postgres that the api reads the index from. */
import type { Sql } from "postgres";
import type { ApiConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import { type DatabaseCopy, readDatabaseCopy } from "../../lib/db/database-copy.ts";
import { errorText } from "../../lib/log.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { isThisMachine } from "./secrets.ts";

const { ok, warning, fault } = findingsOf("Postgres");

/** How long a statement of the doctor may take, in ms. */
const STATEMENT_MS = 5000;

/** What the primary is; undefined while it is away, which its own check reports. */
async function readPrimary(url: string): Promise<DatabaseCopy | undefined> {
  const { sql, close } = connect(url, { name: "doctor", max: 1, statementTimeout: STATEMENT_MS });
  return readDatabaseCopy(sql)
    .catch(() => undefined)
    .finally(close);
}

async function isEncrypted(sql: Sql): Promise<boolean> {
  const [session] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
  return session?.ssl === true;
}

/** Checks `DATABASE_READ_URL`; a standby that cannot be read is a warning, because the primary answers then. Never rejects. */
export async function examineStandby({
  DATABASE_URL: primaryUrl,
  DATABASE_READ_URL: url,
}: Pick<ApiConfig, "DATABASE_URL" | "DATABASE_READ_URL">): Promise<Finding[]> {
  if (url === undefined) return [];
  const primary = await readPrimary(primaryUrl);
  const { sql, close } = connect(url, { name: "doctor", max: 1, statementTimeout: STATEMENT_MS });
  try {
    const { database, isStandby } = await readDatabaseCopy(sql);
    const findings: Finding[] = [];
    if (primary && primary.database !== database) {
      const text = "DATABASE_READ_URL leads to a database that is no copy of that of DATABASE_URL";
      findings.push(fault(text, "set the URL of a streaming standby of it, or remove the variable"));
    } else if (!isStandby) {
      const text = "DATABASE_READ_URL leads to no standby: the server is a primary, or was promoted";
      findings.push(warning(text, "set the URL of a streaming standby, or remove the variable"));
    }
    if (!(await isEncrypted(sql)) && !isThisMachine(new URL(url).hostname)) {
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
