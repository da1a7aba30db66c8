/** Runs a command of the repository as a user types it. */
import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** Runs a Node script to its end. `said` is its whole output. */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, said })));
}
