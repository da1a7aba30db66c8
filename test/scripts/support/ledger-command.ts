/** `npm run ledger` as an operator types it. */
import { spawn } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..", "..", "..");

/** CommonJS packages inside a bundle ask for Node's own modules through `require`. */
const requireForPackages =
  'import { createRequire as createRequireOfBundle } from "node:module"; const require = createRequireOfBundle(import.meta.url);';

/**
 * The command in one file, made once for a test file: it starts in a fraction of the time in which its sources are compiled.
 * It lies below the project's folder, which it looks for, and each file replaces it as a whole.
 */
async function bundleCommand(): Promise<string> {
  const folder = join(root, "node_modules", ".cache", "cover-tests");
  mkdirSync(folder, { recursive: true });
  const bundle = join(folder, "ledger.mjs");
  const unfinished = join(folder, `ledger-${process.pid}.mjs`);
  await build({
    absWorkingDir: root,
    entryPoints: ["scripts/ledger.ts"],
    outfile: unfinished,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: { js: requireForPackages },
  });
  renameSync(unfinished, bundle);
  return bundle;
}
let bundled: Promise<string> | undefined;

type Said = { code: number | null; said: string };

function run(program: readonly string[], databaseUrl: string): Promise<Said> {
  const child = spawn(process.execPath, program, {
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

/** Types the command; what it said and its exit code. */
export async function typeLedger(databaseUrl: string, args: readonly string[] = []): Promise<Said> {
  bundled ??= bundleCommand();
  return run([await bundled, ...args], databaseUrl);
}

/** The same from its sources, as npm runs it. */
export const typeLedgerThroughNpm = (databaseUrl: string, args: readonly string[] = []): Promise<Said> =>
  run(["scripts/run.mjs", "scripts/ledger.ts", ...args], databaseUrl);

/** The lines of one of the tables, without its title. */
export function tableOf(said: string, title: string): string {
  const start = said.indexOf(`\n${title}`);
  if (start < 0) throw new Error(`no table ${title} in:\n${said}`);
  const end = said.indexOf("\n\n", start + 1);
  return said.slice(start, end < 0 ? undefined : end);
}
