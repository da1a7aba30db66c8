/**
 * `npm run backup -- <file>` writes schema `service` of the database of `DATABASE_URL`, or else that of `npm run dev`, into a new
 * file. The service goes on meanwhile.
 */
import { ledgerConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { connect } from "../lib/db/connect.ts";
import { errorText } from "../lib/log.ts";
import { fileArgument } from "./backup/file-argument.ts";
import { writeBackup } from "./backup/write-backup.ts";
import { databaseName, ledgerDatabase } from "./ledger/database.ts";
import { UsageError } from "./usage-error.ts";

const usage = "npm run backup -- <file>    writes schema service into a new file; `npm run restore` reads it";

async function main(): Promise<void> {
  const file = fileArgument(process.argv.slice(2), usage);
  const url = ledgerDatabase(ledgerConfig(process.env));
  const { sql, close } = connect(url, { name: "backup", max: 1, statementTimeout: 0 });
  try {
    const { tables, takenAt } = await writeBackup(sql, file);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(
      `${file}: ${rows} rows of ${tables.length} tables of ${databaseName(url)}, as of ${takenAt}.
It has signed transactions and clients' data: keep it as safe as the database, and SECRETS_KEY apart from it.`,
    );
  } finally {
    await close();
  }
}

main().catch((error: unknown) => {
  const isPlain = error instanceof ConfigError || error instanceof UsageError;
  console.error(isPlain ? error.message : `No backup was written: ${errorText(error)}`);
  process.exitCode = 1;
});
