/** Checks that a login of Postgres may do what its processes need, and that the api's may do no more. */
import type { Sql } from "postgres";
import { API_ROLE } from "../../lib/db/api-role.ts";
import type { NamedDatabase } from "./database.ts";
import { type Finding, findingsOf } from "./finding.ts";

const { warning, fault } = findingsOf("Postgres");

type Rights = {
  login: string;
  superuser: boolean;
  createsRoles: boolean;
  createsSchemas: boolean;
  roleExists: boolean;
  inRole: boolean | null;
  owner: string | null;
  owns: boolean | null;
};

const readRights = (sql: Sql) => sql<Rights[]>`
  select session_user as login, r.rolsuper as superuser, r.rolcreaterole as "createsRoles",
    has_database_privilege(session_user, current_database(), 'CREATE') as "createsSchemas",
    a.oid is not null as "roleExists", pg_has_role(session_user, a.oid, 'MEMBER') as "inRole",
    pg_get_userbyid(s.nspowner) as owner, pg_has_role(session_user, s.nspowner, 'USAGE') as owns
  from pg_roles r
  left join pg_roles a on a.rolname = ${API_ROLE}
  left join pg_namespace s on s.nspname = 'service'
  where r.rolname = session_user`;

/** What writer and indexer need: they migrate. */
function examineOwner({ login, superuser, createsRoles, createsSchemas, ...rest }: Rights): Finding[] {
  const findings: Finding[] = [];
  if (!createsSchemas)
    findings.push(
      fault(
        `the login ${login} may not create schemas in the database`,
        `as a superuser: GRANT CREATE ON DATABASE … TO ${login}`,
      ),
    );
  if (!rest.roleExists && !superuser && !createsRoles)
    findings.push(
      fault(
        `the role ${API_ROLE} is missing, and the login ${login} may not create it`,
        `as a superuser: CREATE ROLE ${API_ROLE} NOLOGIN`,
      ),
    );
  if (rest.owner !== null && !rest.owns)
    findings.push(
      fault(
        `the schema service belongs to ${rest.owner}, and ${login} is not a member of it`,
        `log in as ${rest.owner}, with which writer or indexer first started`,
      ),
    );
  return findings;
}

/** What the api needs: to take on its role, and nothing else. */
function examineApi(rights: Rights, { local, processes }: NamedDatabase): Finding[] {
  const { login, superuser, roleExists, inRole, owns } = rights;
  if (!roleExists) {
    // A login that serves all processes creates it at the first start of a writer or an indexer.
    if (processes.some((name) => name !== "api")) return [];
    return [
      fault(
        `the role ${API_ROLE} is missing, which the api takes on`,
        `start a writer or an indexer first, or as a superuser: CREATE ROLE ${API_ROLE} NOLOGIN`,
      ),
    ];
  }
  if (!inRole) {
    return [
      fault(
        `the login ${login} may not take on the role ${API_ROLE}`,
        `as a superuser: GRANT ${API_ROLE} TO ${login}`,
      ),
    ];
  }
  if (!local && (superuser || owns)) {
    return [
      warning(
        `the api's login ${login} may do more than the role ${API_ROLE}`,
        "give the api a login of its own, as docs/operating.md says",
      ),
    ];
  }
  return [];
}

/** Checks what the login may do. @throws when the database cannot be read */
export async function examineRights(sql: Sql, database: NamedDatabase): Promise<Finding[]> {
  const [rights] = await readRights(sql);
  if (!rights) throw new Error("Postgres did not tell the login's rights");
  const { processes } = database;
  return [
    ...(processes.some((name) => name !== "api") ? examineOwner(rights) : []),
    ...(processes.includes("api") ? examineApi(rights, database) : []),
  ];
}
