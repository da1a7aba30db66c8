/** A streaming standby of a local Postgres. npm's Postgres has no `pg_basebackup`, so the data is copied as that does. */
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import type { PostgresOptions } from "./postgres.ts";
import { postgresRunner } from "./postgres-binaries.ts";

/**
 * Copies the data of the server of `primaryUrl`, a superuser's URL, to `target.dataDir`. Nothing else should write meanwhile, so that
 * no file vanishes under the copy.
 * @returns the options with which `startPostgres` starts the standby, also again after it was killed, and its URL
 */
export async function copyToStandby(
  primaryUrl: string,
  target: PostgresOptions,
): Promise<{ options: PostgresOptions; url: string }> {
  const runner = await postgresRunner();
  const { data } = runner.locate({ data: target.dataDir, log: target.logFile });
  const sql = postgres(primaryUrl, { max: 1, onnotice: () => {} });
  try {
    const [server] = await sql<{ data: string }[]>`select current_setting('data_directory') as data`;
    if (!server) throw new Error("Postgres did not tell its data directory");
    // Both statements must be of one session.
    await sql`select pg_backup_start('standby', fast => true)`;
    await promisify(execFile)("cp", ["-a", server.data, data]);
    const [backup] = await sql<{ label: string }[]>`
      select labelfile as label from pg_backup_stop(wait_for_archive => false)`;
    if (!backup) throw new Error("Postgres did not tell the backup's label");
    for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(data, name), { force: true });
    writeFileSync(join(data, "backup_label"), backup.label);
    writeFileSync(join(data, "standby.signal"), "");
    for (const name of ["backup_label", "standby.signal"]) runner.own(join(data, name));
  } finally {
    await sql.end();
  }
  const primary = new URL(primaryUrl);
  const conninfo = `host=${primary.hostname} port=${primary.port} user=${primary.username}`;
  const url = new URL(primaryUrl);
  url.port = String(target.port);
  const options = { ...target, settings: { ...target.settings, primary_conninfo: conninfo } };
  return { options, url: url.href };
}
