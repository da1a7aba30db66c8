import postgres from "postgres";

/** Creates a database on the server of `url`, as a copy of `template`. @returns the new database's URL. */
export async function createDatabase(url: string, name: string, template = "template1"): Promise<string> {
  await withServer(url, (sql) => sql`create database ${sql(name)} template ${sql(template)}`);
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}

/** Drops a database and ends its sessions. A missing database is no error. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await withServer(url, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
}

async function withServer(url: string, act: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await act(sql);
  } finally {
    await sql.end();
  }
}
