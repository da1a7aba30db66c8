/** `npm run dev` as a developer types it, in a folder and on ports of its own. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { z } from "zod";
import { isRunning } from "../../scripts/local/pids.ts";
import { freePorts, isPortFree } from "../../scripts/local/ports.ts";
import type { Exit } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "./cleanup.ts";
import { notePid } from "./run-folder.ts";

const readyMs = 200_000;
const root = join(import.meta.dirname, "..", "..");
const noteShape = z.object({ children: z.array(z.object({ name: z.string(), pid: z.int() })) });

/** Where a dev stack is to be: its folder and its ports. Several starts can share one place. */
export type DevPlace = { readonly dataDir: string; readonly env: Readonly<Record<string, string>> };

export type DevRun = {
  readonly pid: number;
  readonly exited: Promise<Exit>;
  readonly output: () => string;
  /** Waits for the line that says so. @throws with the whole output when the run ends before. */
  readonly ready: () => Promise<void>;
  /** A signal to the whole group, as the terminal sends it for Ctrl-C. */
  readonly signal: (signal: NodeJS.Signals) => void;
};

export async function devPlace(): Promise<DevPlace> {
  const names = ["PORT", "ANVIL_PORT", "TESTNET_ANVIL_PORT", "POSTGRES_PORT", "PONDER_PORT", "METRICS_PORT"];
  const ports = await freePorts(names.length);
  const dataDir = join(inject("runFolder"), `dev-${ports[0]}`);
  const env = Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
  return { dataDir, env: { ...env, DATA_DIR: dataDir, DATABASE_URL: "", REDIS_URL: "" } };
}

/** The processes that the stack has noted: servers and services. */
export function devChildren({ dataDir }: DevPlace): { name: string; pid: number }[] {
  return noteShape.parse(JSON.parse(readFileSync(join(dataDir, "dev-stack.json"), "utf8"))).children;
}

/** What is left of a stack: processes that run, ports that are taken. */
export async function devLeftovers(place: DevPlace): Promise<string[]> {
  const processes = devChildren(place).filter(({ pid }) => isRunning(pid));
  const ports = Object.entries(place.env).filter(([name]) => name.endsWith("PORT"));
  const taken: string[] = [];
  for (const [name, port] of ports) if (!(await isPortFree(Number(port)))) taken.push(`${name} ${port}`);
  return [...processes.map(({ name }) => name), ...taken];
}

/** Types the command. Whatever it starts is ended with the test file. */
export function typeDev(
  place: DevPlace,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): DevRun {
  const child = spawn(process.execPath, [join(root, "scripts", "run.mjs"), "scripts/dev.ts", ...args], {
    cwd: root,
    env: { ...process.env, ...place.env, ...env },
    detached: true, // a group of its own, like that of a command at a terminal
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
  if (pid === undefined) throw new Error("npm run dev could not be started");
  notePid(inject("runFolder"), pid);
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
        what: "npm run dev to be ready",
        probe: () => /^Ready in [\d.]+ s$/m.test(output) || undefined,
        hopeless: () => exit && `npm run dev ended:\n${output}`,
        timeoutMs: readyMs,
        intervalMs: 100,
      });
    },
  };
}
