/** Runs the blocks of one document in one shell, in their order, as a reader would paste them. */
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";
import { projectRoot } from "../../../lib/project-root.ts";
import { atEnd } from "../../support/cleanup.ts";
import { recordPid } from "../../support/run-folder.ts";
import { type Block, fileNameOf } from "./doc-blocks.ts";

const timeoutMs = 300_000;

/** The result of one shell block. */
export type BlockRun = {
  readonly block: Block;
  /** Standard output and error. */
  readonly output: string;
  /** Bodies of all HTTP answers that curl received, also of those that the block captured in a variable. */
  readonly answers: string;
};

/** Stands before the real curl in the PATH and keeps a copy of each answer. */
const curlCopy = `#!/bin/sh
"$REAL_CURL" "$@" >"$ANSWERS.$$"
code=$?
{ cat "$ANSWERS.$$"; echo; } >>"$ANSWERS"
cat "$ANSWERS.$$"
rm "$ANSWERS.$$"
exit $code
`;

/** Inside the project's folder, so that scripts find its packages, as in a reader's checkout. */
function makeFolder(): string {
  const data = join(projectRoot, ".data");
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(join(data, "docs-"));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin", "curl"), curlCopy);
  chmodSync(join(folder, "bin", "curl"), 0o755);
  return folder;
}

function environment(folder: string, env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_ENV|VITEST.*)$/.test(name));
  const realCurl = execFileSync("sh", ["-c", "command -v curl"], { encoding: "utf8" }).trim();
  const path = [join(folder, "bin"), dirname(process.execPath), process.env.PATH ?? ""].join(delimiter);
  return { ...Object.fromEntries(inherited), ...env, PATH: path, REAL_CURL: realCurl };
}

/** The shell's script: each block in the same shell, with files of its own for its output and its answers. */
const mainScript = (blocks: readonly Block[]): string =>
  `set -e\n${blocks
    .map(({ line }) => `ANSWERS=$PWD/${line}.answers; export ANSWERS\n. ./${line}.sh >${line}.out 2>&1\n`)
    .join("")}`;

const readIfAny = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

/**
 * Runs them with `translate` applied to their text. @returns what each shell block has printed and received
 * @throws with the output of the block that failed or did not end
 */
export async function runBlocks(
  blocks: readonly Block[],
  env: Readonly<Record<string, string>>,
  translate: (text: string) => string,
): Promise<BlockRun[]> {
  const folder = makeFolder();
  const shell = blocks.filter(({ language }) => language === "sh");
  for (const block of blocks) {
    const name = block.language === "sh" ? `${block.line}.sh` : fileNameOf(block);
    writeFileSync(join(folder, name), translate(block.text));
  }
  writeFileSync(join(folder, "main.sh"), mainScript(shell));

  const child = spawn("sh", ["main.sh"], {
    cwd: folder,
    env: environment(folder, env),
    detached: true, // a group of its own, so that its background processes end with it
    stdio: ["ignore", "ignore", "inherit"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("sh could not be started");
  recordPid(inject("runFolder"), pid);
  const endGroup = () => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // every process of the group has ended
    }
  };
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const code = await Promise.race([exited, sleep(timeoutMs, "timeout" as const, { ref: false })]);
  endGroup();

  const runs = shell.map((block) => ({
    block,
    output: readIfAny(join(folder, `${block.line}.out`)),
    answers: readIfAny(join(folder, `${block.line}.answers`)),
  }));
  if (code === 0) return runs;
  const last = shell.findLast(({ line }) => existsSync(join(folder, `${line}.out`)));
  const { output, answers } = runs.find(({ block }) => block === last) ?? { output: "", answers: "" };
  const how = code === "timeout" ? `did not end within ${timeoutMs / 1000} s` : `ended with ${code}`;
  throw new Error(
    `${last?.document}:${last?.line} ${how}\n── output\n${output}\n── HTTP answers\n${answers}`,
  );
}
