/**
 * `npm run restore -- <file>` copies a backup into a database without rows in schema `service`, and stops everything: nothing is signed
 * and no purchase accepted until the operator resumes. Then it compares the ledger with its chains, as `npm run ledger -- reconcile`.
 */
import type { Sql } from "postgres";
import { restoreConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { connect } from "../lib/db/connect.ts";
import { prepareOwnerLogin } from "../lib/db/login-settings.ts";
import { resumeCommand } from "../lib/ledger/stops.ts";
import { errorText } from "../lib/log.ts";
import { openChains, verifyChain } from "../workers/common/chains.ts";
import { BackupReader } from "./backup/backup-reader.ts";
import { fileArgument } from "./backup/file-argument.ts";
import type { BackupHeader } from "./backup/format.ts";
import { loadBackup, prepareSchema, RestoreRefused } from "./backup/load-backup.ts";
import { type RelayingWallet, walletsSince } from "./backup/new-wallets.ts";
import { databaseName, ledgerDatabase } from "./ledger/database.ts";
import { reconcile } from "./ledger/reconcile.ts";
import { UsageError } from "./usage-error.ts";

const usage = `npm run restore -- <file>    copies a backup into a database without rows in schema service; needs RPC_URL, DEPLOYMENT_FILE
                             and, with a testnet, their TESTNET_ variables`;

type Config = ReturnType<typeof restoreConfig>;

/**
 * The wallets of each chain of the backup that it lacks, and that have bought since.
 * @throws {RestoreRefused} when a chain of the backup is not configured; {@link ConfigError} when a node serves another chain; also
 * rejects when a node does not answer
 */
async function newWallets(config: Config, { blocks }: BackupHeader): Promise<RelayingWallet[]> {
  const { main, testnet } = openChains(config);
  const wallets: RelayingWallet[] = [];
  for (const { chainId, number } of blocks) {
    const deployed = [main, testnet].find((one) => one?.deployment.chainId === chainId);
    if (!deployed) {
      throw new RestoreRefused(
        `the backup has chain ${chainId}, and no node and deployment file are set for it`,
      );
    }
    await verifyChain(deployed, [], deployed === main ? "" : "TESTNET_");
    wallets.push(...(await walletsSince(deployed, BigInt(number))));
  }
  return wallets;
}

async function restore(sql: Sql, url: string, config: Config, file: string): Promise<BackupHeader> {
  const reader = new BackupReader(file);
  const header = await reader.header();
  await prepareSchema(sql, url, header);
  const wallets = await newWallets(config, header);
  await loadBackup(sql, reader, header, wallets);
  const rows = header.tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(`${rows} rows of ${header.tables.length} tables of the backup of ${header.takenAt} are in ${databaseName(url)}.
No purchase is accepted and nothing is signed until you open the service: ${resumeCommand({ scope: "global" })}`);
  return header;
}

async function main(): Promise<void> {
  const file = fileArgument(process.argv.slice(2), usage);
  const config = restoreConfig(process.env);
  const url = ledgerDatabase(config);
  await prepareOwnerLogin(url); // before the session that compares: it reads by these settings
  const { sql, close } = connect(url, { name: "restore", max: 2, statementTimeout: 0 });
  try {
    const { takenAt } = await restore(sql, url, config, file).catch((error: unknown) => {
      if (error instanceof ConfigError) throw error;
      throw new Error(`Nothing was restored: ${errorText(error)}`);
    });
    await reconcile(sql, config, []).catch((error: unknown) => {
      throw new Error(
        `All is restored, and not yet compared with the chain: ${errorText(error)}. Run npm run ledger -- reconcile`,
      );
    });
    console.log(`
Purchases above without a transaction were not bought, and fail once a writer runs, no transaction is unknown, and a minute has
passed since they were accepted.
Purchases that were accepted after ${takenAt} are lost. Those that the chain has are above as unknown: each is found again when its
client repeats the call, or stepped over by npm run ledger -- reconcile --accept <hash>. The others were never sent, or are in no
block yet; nobody knows them but their clients.`);
  } finally {
    await close();
  }
}

main().catch((error: unknown) => {
  const isPlain = error instanceof ConfigError || error instanceof UsageError;
  console.error(isPlain ? error.message : errorText(error));
  process.exitCode = 1;
});
