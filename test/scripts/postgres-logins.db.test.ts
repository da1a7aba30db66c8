/** The logins that compose.yaml's Postgres makes at its first start, on a server of their own: their names are the server's. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { expect, test } from "vitest";
import { API_ROLE } from "../../lib/db/api-role.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { projectRoot } from "../../lib/project-root.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";

const script = readFileSync(join(projectRoot, "ops", "compose", "postgres-logins.sh"), "utf8");

/** The statements of the script, with psql's variables as literals. */
const statements = [...script.matchAll(/<<'SQL'\n(.*?)^SQL$/gms)]
  .flatMap(([, sql = ""]) => sql.split(";\n"))
  .filter((sql) => sql.trim() !== "")
  .map((sql) => sql.replace(/:'(\w+)'/g, "'$1'"));

test("the owner migrates, and the api's login may do what its role may", async () => {
  const { databaseUrl } = await startOwnPostgres("other");
  const superuser = postgres(databaseUrl, { max: 1 });
  atEnd(() => superuser.end());
  for (const statement of statements) await superuser.unsafe(statement);

  const as = (login: string, password: string): string => {
    const url = new URL(databaseUrl);
    [url.username, url.password, url.pathname] = [login, password, "/cover"];
    return url.href;
  };
  await migrateService(as("cover_owner", "owner_password"));
  const api = postgres(as("cover_api_login", "api_password"), { max: 1 });
  atEnd(() => api.end());
  const read = () => api`select count(*)::int as purchases from service.purchase`;
  await expect(read()).rejects.toThrow("permission denied");
  await api.unsafe(`set role ${API_ROLE}`);
  expect([...(await read())]).toEqual([{ purchases: 0 }]);
  await expect(api`create schema mine`).rejects.toThrow("permission denied");

  const [standby] = await superuser`
    select rolreplication, rolsuper from pg_roles where rolname = 'cover_standby'`;
  expect(standby).toEqual({ rolreplication: true, rolsuper: false });
});
