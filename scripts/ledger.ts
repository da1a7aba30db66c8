/**
 * `npm run ledger` shows the relay ledger to the operator and sets stops (the kill switch). It uses the database of
 * `DATABASE_URL`, or else that of `npm run dev`. It writes only stops, and with `reconcile` and `give-up` what is proved.
 */
import type { Sql } from "postgres";
import { ledgerConfig, reconcileConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { connect } from "../lib/db/connect.ts";
import {
  clearStop,
  keyExists,
  type StopTarget,
  setStop,
  targetText,
  targetWarning,
} from "../lib/ledger/stops.ts";
import { errorText } from "../lib/log.ts";
import { parseLedgerArguments, usage } from "./ledger/arguments.ts";
import { databaseName, ledgerDatabase } from "./ledger/database.ts";
import { giveUp } from "./ledger/give-up.ts";
import { printOverview } from "./ledger/overview.ts";
import { reconcile } from "./ledger/reconcile.ts";
import { showEntry } from "./ledger/show.ts";
import { UsageError } from "./usage-error.ts";

async function stop(sql: Sql, target: StopTarget, reason: string): Promise<number> {
  if (target.scope === "key" && !(await keyExists(sql, target.keyId))) {
    console.error(`There is no key ${target.keyId}.`);
    return 1;
  }
  await setStop(sql, target, reason);
  console.log(`Stopped: ${targetText(target)}. This takes effect before the next transaction is sent.`);
  const warning = await targetWarning(sql, target);
  if (warning !== null) console.log(warning);
  return 0;
}

async function resume(sql: Sql, target: StopTarget): Promise<number> {
  if (await clearStop(sql, target)) {
    console.log(`Resumed: ${targetText(target)}.`);
    return 0;
  }
  console.error(`Nothing to resume: ${targetText(target)} was not stopped.`);
  return 1;
}

async function main(): Promise<number> {
  const command = parseLedgerArguments(process.argv.slice(2));
  if (command.do === "help") {
    console.log(usage);
    return 0;
  }
  const url = ledgerDatabase(ledgerConfig(process.env));
  const { sql, close } = connect(url, { name: "ledger", max: 2 });
  console.log(`The ledger in ${databaseName(url)}, ${new Date().toISOString()}`);
  try {
    switch (command.do) {
      case "report":
        await printOverview(sql, command.older);
        return 0;
      case "show":
        if (await showEntry(sql, command.id)) return 0;
        console.error(`There is no purchase, service transaction or claim ${command.id}.`);
        return 1;
      case "stop":
        return await stop(sql, command.target, command.reason);
      case "reconcile":
        return await reconcile(sql, reconcileConfig(process.env), command.accept);
      case "give-up":
        return await giveUp(sql, reconcileConfig(process.env), command.wallet);
      case "resume":
        return await resume(sql, command.target);
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new Error(`The ledger in ${databaseName(url)} cannot be used: ${errorText(error)}`);
  } finally {
    await close();
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(
      error instanceof ConfigError || error instanceof UsageError ? error.message : errorText(error),
    );
    process.exitCode = 1;
  },
);
