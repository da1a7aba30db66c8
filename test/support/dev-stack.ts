/** Runs `npm run dev` and `npm run fork` in a folder and on ports of their own. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { separateEnvironment } from "../../scripts/dev/environment.ts";
import { readProcessRecord } from "../../scripts/dev/process-record.ts";
import { isRunning } from "../../scripts/local/pids.ts";
import { isPortFree } from "../../scripts/local/ports.ts";
import type { Exit } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "./cleanup.ts";
import { recordPid } from "./run-folder.ts";

/** Longer than the waits of `npm run dev` itself, which names what it waits for. */
const readyMs = 400_000;
const root = join(import.meta.dirname, "..", "..");

/** The folder and ports of a dev stack. It can be started there several times. */
export type DevSettings = { readonly dataDir: string; readonly env: Readonly<Record<string, string>> };

export type DevRun = {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  readonly output: () => string;
  /** Waits for the line "Ready in …". @throws with the whole output when the run ends first. */
  readonly ready: () => Promise<void>;
  /** Sends a signal to the whole process group, as a terminal does for Ctrl-C. */
  readonly signal: (signal: NodeJS.Signals) => void;
};

export async function devSettings(): Promise<DevSettings> {
  const dataDir = mkdtempSync(join(inject("runFolder"), "dev-"));
  return { dataDir, env: await separateEnvironment(dataDir) };
}

/** The servers and services that the stack has recorded. */
export const devChildren = ({ dataDir }: DevSettings) => readProcessRecord(dataDir)?.children ?? [];

/** The processes of a stack that still run and its ports that are still taken. */
export async function devLeftovers(settings: DevSettings): Promise<string[]> {
  const processes = devChildren(settings).filter(({ pid }) => isRunning(pid));
  const ports = Object.entries(settings.env).filter(([name]) => name.endsWith("PORT"));
  const taken: string[] = [];
  for (const [name, port] of ports) if (!(await isPortFree(Number(port)))) taken.push(`${name} ${port}`);
  return [...processes.map(({ name }) => name), ...taken];
}

/** Runs `npm run dev`. It gets a Ctrl-C when the test file ends. */
export const startDev = (
  settings: DevSettings,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): DevRun => startStackCommand("scripts/dev.ts", settings, args, env);

/** The same for `npm run fork`. */
export const startFork = (
  settings: DevSettings,
  args: readonly string[],
  env: Record<string, string> = {},
): DevRun => startStackCommand("scripts/fork.ts", settings, args, env);

function startStackCommand(
  script: string,
  settings: DevSettings,
  args: readonly string[],
  env: Record<string, string>,
): DevRun {
  const child = spawn(process.execPath, [join(root, "scripts", "run.mjs"), script, ...args], {
    cwd: root,
    env: { ...process.env, ...settings.env, ...env },
    detached: true, // a separate process group, like that of a command at a terminal
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${script} could not be started`);
  recordPid(inject("runFolder"), pid);
  const signal = (name: NodeJS.Signals) => {
    if (!exit) process.kill(-pid, name);
  };
  atEnd(async () => {
    signal("SIGINT");
    await exited;
  });
  return {
    pid,
    exited,
    output: () => output,
    signal,
    async ready() {
      await waitFor({
        what: `${script} to be ready`,
        probe: () => /^Ready in [\d.]+ s$/m.test(output) || undefined,
        giveUpReason: () => exit && `${script} ended:\n${output}`,
        timeoutMs: readyMs,
        intervalMs: 100,
      });
    },
  };
}
