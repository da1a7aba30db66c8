/** Runs `npm run ledger`. */
import { runCommand } from "../../support/command.ts";

/** Runs the command. `said` is its whole output. */
export const runLedger = (
  databaseUrl: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
) => runCommand(["scripts/start.mjs", "ledger", ...args], { ...env, DATABASE_URL: databaseUrl });

/** The lines of one table of the output. */
export function tableOf(said: string, title: string): string {
  const start = said.indexOf(`\n${title}`);
  if (start < 0) throw new Error(`no table ${title} in:\n${said}`);
  const end = said.indexOf("\n\n", start + 1);
  return said.slice(start, end < 0 ? undefined : end);
}
