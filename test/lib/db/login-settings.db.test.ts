/** Settings of the logins: each process gives them to its own, whatever the database or its server has. */
import postgres from "postgres";
import { expect, inject, test } from "vitest";
import { asApi } from "../../../lib/db/api-role.ts";
import { connect } from "../../../lib/db/connect.ts";
import { apiDatabase, prepareApiLogin, prepareOwnerLogin } from "../../../lib/db/login-settings.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

const { sql: server, close } = connect(inject("postgresUrl"), { name: "test", max: 1 });
atEnd(close);

/** A database with settings of other places, and a login of the api's own, which has settings too. */
async function foreignDatabase() {
  const owner = await freshDatabase();
  const url = new URL(owner);
  const name = url.pathname.slice(1);
  const login = `${name}_api`;
  await server.unsafe(`create role ${login} login noinherit in role cover_api`);
  atEnd(async () => {
    await server.unsafe(`drop role ${login}`);
  });
  for (const setting of ["DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'", "search_path = 'nowhere'"]) {
    await server.unsafe(`alter database ${name} set ${setting}`);
    await server.unsafe(`alter role ${login} in database ${name} set ${setting}`);
  }
  url.username = login;
  return { owner, api: url.href };
}

/** What a new session reads. */
async function read(url: string) {
  const sql = postgres(url, { max: 1 });
  const [row] = await sql`
    select current_user as role, '2026-11-05T00:00:00Z'::timestamptz as time, current_setting('search_path') as path,
      current_setting('statement_timeout') as "timeout"`.finally(() => sql.end());
  return row;
}
const time = new Date("2026-11-05T00:00:00Z");

test("the owner's sessions and the api's read times as they were written", async () => {
  const { owner, api } = await foreignDatabase();
  expect(await read(owner)).not.toMatchObject({ time });
  await prepareOwnerLogin(owner);
  await prepareApiLogin(await apiDatabase(api));
  expect(await read(owner)).toEqual({ role: "postgres", time, path: "pg_catalog", timeout: "10s" });
  expect(await read(api)).toEqual({ role: "cover_api", time, path: "pg_catalog", timeout: "4s" });
});

test("with one login for all processes the api takes on its role, once writer or indexer have set the login", async () => {
  const { owner } = await foreignDatabase();
  const url = await apiDatabase(owner);
  expect(url).toBe(asApi(owner));
  await expect(prepareApiLogin(url)).rejects.toThrow('TimeZone is "Asia/Kolkata" instead of "UTC"');
  await prepareOwnerLogin(owner);
  await prepareApiLogin(url);
  expect(await read(url)).toMatchObject({ role: "cover_api", time });
  await expect(prepareApiLogin(owner)).rejects.toThrow("have all rights of postgres");
});

test("parameters that override the login's settings, and a login that may not have its role, are named", async () => {
  const { owner, api } = await foreignDatabase();
  await expect(prepareOwnerLogin(`${owner}?options=-c%20DateStyle%3DGerman`)).rejects.toThrow(
    'DateStyle is "German, DMY" instead of "ISO, MDY": a pooler',
  );
  await server.unsafe(`revoke cover_api from ${new URL(api).username}`);
  await expect(prepareApiLogin(api)).rejects.toThrow(/run as a superuser: grant cover_api to/);
});
