import { setTimeout as sleep } from "node:timers/promises";
import type { ISql, Sql, TransactionSql } from "postgres";
import { beginWith } from "../../lib/db/connect.ts";
import { appliedMigration, migrateService, newestMigration } from "../../lib/db/migrate.ts";
import { setStop } from "../../lib/ledger/stops.ts";
import type { BackupReader } from "./backup-reader.ts";
import { BackupFileError, type BackupHeader, type BackupTable } from "./format.ts";
import type { RelayingWallet } from "./new-wallets.ts";
import { serviceTables } from "./service-schema.ts";

/** The backup does not fit the database or this version of the service. */
export class RestoreRefused extends Error {
  override name = "RestoreRefused";
}

const isMissing = async (sql: ISql): Promise<boolean> =>
  (await sql`select 1 where to_regclass('service.migration') is not null`).length === 0;

/** The tables with rows, but for the secret that each new schema has. */
async function filledTables(sql: ISql): Promise<string[]> {
  const filled: string[] = [];
  for (const { name } of await serviceTables(sql)) {
    if (name === "secret") continue;
    if ((await sql`select 1 from ${sql(`service.${name}`)} limit 1`).length > 0) filled.push(name);
  }
  return filled;
}

/** @throws {RestoreRefused} when schema `service` has rows */
async function requireEmpty(sql: ISql): Promise<void> {
  const filled = await filledTables(sql);
  if (filled.length === 0) return;
  throw new RestoreRefused(
    `schema service is not empty: there are rows in ${filled.join(", ")}. Restore into a new database, or stop all processes and drop the schema`,
  );
}

/**
 * Sees that the database has an empty schema `service` of the backup's migration; creates the schema where there is none.
 * @throws {RestoreRefused} when it is not empty, or database, backup and this version of the service differ in their migrations
 */
export async function prepareSchema(
  sql: Sql,
  databaseUrl: string,
  { migration }: BackupHeader,
): Promise<void> {
  if (migration !== newestMigration()) {
    throw new RestoreRefused(
      `the backup has migration ${migration}, and this version of the service ${newestMigration()}: restore it with the version that wrote it`,
    );
  }
  if (await isMissing(sql)) return migrateService(databaseUrl);
  await requireEmpty(sql);
  const applied = await appliedMigration(sql);
  if (applied !== migration) {
    throw new RestoreRefused(`the backup has migration ${migration}, and the database ${applied}`);
  }
}

const described = (tables: readonly Omit<BackupTable, "rows">[]): string =>
  JSON.stringify(tables.map(({ name, columns }) => [name, columns.toSorted()]).toSorted());

/** Copies the rows of the reader's next table. @throws {BackupFileError} when they are not as many as the header says */
async function copyRows(tx: TransactionSql, reader: BackupReader, table: BackupTable): Promise<void> {
  const stream = await tx`copy ${tx(`service.${table.name}`)} (${tx(table.columns)}) from stdin`.writable();
  let fault: Error | undefined;
  stream.on("error", (error) => {
    fault ??= error;
  });
  let copied = 0;
  try {
    for await (const { bytes, rows } of reader.rows()) {
      await new Promise<void>((resolve) => stream.write(bytes, () => resolve()));
      if (fault) throw fault;
      copied += rows;
    }
  } catch (error) {
    // It ends the COPY, without which the connection takes no rollback.
    stream.destroy(new Error("the backup cannot be read"));
    throw error;
  }
  if (copied !== table.rows) {
    stream.destroy(new Error("rows are missing"));
    throw new BackupFileError(`${table.name} has ${copied} rows, and the header says ${table.rows}`);
  }
  await endCopy(tx, stream, table.name);
}

/**
 * Ends a COPY. The driver drops an error that Postgres finds only then, such as a violated constraint: the next statement of the
 * transaction fails in its place.
 */
async function endCopy(tx: TransactionSql, stream: NodeJS.WritableStream, table: string): Promise<void> {
  stream.end();
  // The stream sends its end in another tick, and until then the driver refuses statements.
  await sleep(0);
  try {
    await tx`select`;
  } catch {
    throw new BackupFileError(`Postgres refuses the rows of ${table}; its log says why`);
  }
}

/** Wallets that the backup lacks: their transactions since then are unknown to the ledger, like those of its own wallets. */
const addWallets = async (tx: ISql, wallets: readonly RelayingWallet[]): Promise<void> => {
  for (const { chainId, address, nonce } of wallets) {
    await tx`
      insert into service.relayer_wallet as w (chain_id, address, next_nonce) values (${chainId}, ${address}, ${nonce})
      on conflict (chain_id, address) do update set next_nonce = excluded.next_nonce where w.next_nonce is null`;
  }
};

/**
 * Copies a backup into the empty schema `service`, and stops everything, in one transaction: whoever sees the rows sees the stop.
 * @throws {BackupFileError} when the file is not whole, {@link RestoreRefused} when the schema is not empty any more; nothing is
 * stored then
 */
export async function loadBackup(
  sql: Sql,
  reader: BackupReader,
  header: BackupHeader,
  wallets: readonly RelayingWallet[],
): Promise<void> {
  const patient = { statement_timeout: "0", idle_in_transaction_session_timeout: "0" };
  await beginWith(sql, { ...patient, datestyle: "ISO" }, async (tx) => {
    const tables = await serviceTables(tx);
    if (described(tables) !== described(header.tables)) {
      throw new RestoreRefused("the backup has other tables or columns than the database");
    }
    // What the triggers derive from inserted rows is in the backup. This also keeps everybody else from writing.
    for (const { name } of tables) await tx`alter table ${tx(`service.${name}`)} disable trigger user`;
    await requireEmpty(tx);
    await tx`delete from service.secret`;
    for (const table of header.tables) await copyRows(tx, reader, table);
    await reader.close();
    for (const { name } of tables) await tx`alter table ${tx(`service.${name}`)} enable trigger user`;
    for (const { name, value } of header.sequences) {
      await tx`select setval(format('service.%I', ${name}::text)::regclass, ${value}::bigint)`;
    }
    // No writer of before the restore holds a wallet.
    // Of whatever server the backup is: this database has lost what came after it.
    await tx`
      update service.relayer_wallet set lease_owner = null, lease_until = '-infinity', compared_with = null, fenced_with = null,
        fence_with = null, fence_from = null, fence_below = null`;
    await addWallets(tx, wallets);
    await setStop(tx, { scope: "global" }, `restored from the backup of ${header.takenAt}`);
  });
  // Until then Postgres plans its statements for small tables.
  for (const { name } of header.tables) {
    await beginWith(sql, patient, (tx) => tx`analyze ${tx(`service.${name}`)}`);
  }
}
