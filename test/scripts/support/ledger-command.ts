/** `npm run ledger` as an operator types it. */
import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");

/** Types the command; what it said and its exit code. */
export function typeLedger(
  databaseUrl: string,
  args: readonly string[] = [],
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ["scripts/start.mjs", "ledger", ...args], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: databaseUrl },
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

/** The lines of one of the tables, without its title. */
export function tableOf(said: string, title: string): string {
  const start = said.indexOf(`\n${title}`);
  if (start < 0) throw new Error(`no table ${title} in:\n${said}`);
  const end = said.indexOf("\n\n", start + 1);
  return said.slice(start, end < 0 ? undefined : end);
}
