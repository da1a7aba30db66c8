/** Child processes in a session of their own, each with its own output file. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { signalPid } from "./pids.ts";

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type StopOptions = {
  /** What the process is asked with. */
  readonly signal?: NodeJS.Signals;
  /** After so many milliseconds its whole group is killed. */
  readonly graceMs?: number;
};

export type Child = {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Settles when the process has ended, however it did. */
  readonly exited: Promise<Exit>;
  /** How it ended, or undefined while it runs. */
  readonly exit: () => Exit | undefined;
  /** Asks it to stop, waits, and kills its group after the grace period. A process that has ended is no error. */
  readonly stop: (options?: StopOptions) => Promise<Exit>;
  /** SIGKILL to the process alone, as a crash would end it; waits until it is gone. */
  readonly kill9: () => Promise<Exit>;
};

export type ProcessOptions = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and standard error are appended here; the folder is made. */
  readonly logFile: string;
  /** The whole environment of the child; the parent's when left out. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
};

const defaultGraceMs = 10_000;

/**
 * Starts a process in a session of its own, so that a Ctrl-C at the terminal reaches the parent alone and the parent
 * decides in which order its children stop.
 * @throws when the command cannot be started.
 */
export async function startProcess(options: ProcessOptions): Promise<Child> {
  const { name, command, args, logFile, env, cwd } = options;
  mkdirSync(dirname(logFile), { recursive: true });
  const output = openSync(logFile, "a");
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ["ignore", output, output] });
  closeSync(output);

  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new Error(`${name} could not be started`, { cause })));
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} could not be started`);

  return {
    name,
    pid,
    logFile,
    exited,
    exit: () => exit,
    async stop({ signal = "SIGTERM", graceMs = defaultGraceMs } = {}) {
      if (exit) return exit;
      signalPid(pid, signal);
      const grace = new AbortController();
      const late = sleep(graceMs, "late" as const, { signal: grace.signal }).catch(() => "late" as const);
      if ((await Promise.race([exited, late])) === "late") signalPid(pid, "SIGKILL", { group: true });
      grace.abort();
      return exited;
    },
    kill9() {
      if (!exit) signalPid(pid, "SIGKILL");
      return exited;
    },
  };
}

/** The last lines of an output file, for a message about what went wrong; empty when there is no such file. */
export function tail(file: string, lines = 30): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

/** How a process ended, in words. */
export function describeExit({ code, signal }: Exit): string {
  return signal ? `was ended by ${signal}` : `exited with code ${code}`;
}

/** What to say about a child that has ended, with the end of its output; undefined while it runs. */
export function deathNotice(child: Child): string | undefined {
  const exit = child.exit();
  return exit && `${child.name} ${describeExit(exit)}. The end of ${child.logFile}:\n${tail(child.logFile)}`;
}
