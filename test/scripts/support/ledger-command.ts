/** Runs `npm run ledger`. */
import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/** Runs the command. `said` is its whole output. */
export function runLedger(
  databaseUrl: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ["scripts/start.mjs", "ledger", ...args], {
    cwd: root,
    env: { ...process.env, ...env, DATABASE_URL: databaseUrl },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, said }));
  });
}

/** The lines of one table of the output. */
export function tableOf(said: string, title: string): string {
  const start = said.indexOf(`\n${title}`);
  if (start < 0) throw new Error(`no table ${title} in:\n${said}`);
  const end = said.indexOf("\n\n", start + 1);
  return said.slice(start, end < 0 ? undefined : end);
}
