/** Child processes, each in its own session and with its own output file. */
import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { signalPid } from "./pids.ts";

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type StopOptions = {
  /** SIGTERM when left out. */
  readonly signal?: NodeJS.Signals;
  /** After this time the whole process group is killed. */
  readonly graceMs?: number;
};

export type Child = {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>;
  /** The exit code or signal; undefined while the process runs. */
  readonly exit: () => Exit | undefined;
  /** Sends the signal, waits, and kills the process group after the grace period. An ended process is no error. */
  readonly stop: (options?: StopOptions) => Promise<Exit>;
  /** Kills the process alone (SIGKILL), as a crash would, and waits until it has ended. */
  readonly kill9: () => Promise<Exit>;
};

export type ProcessOptions = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Standard output and standard error are appended to this file; its folder is created. */
  readonly logFile: string;
  /** The whole environment of the child; the parent's when left out. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
};

const defaultGraceMs = 10_000;

/**
 * Starts a process in its own session: a Ctrl-C at the terminal reaches only the parent, which stops its children in order.
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

/** The last lines of an output file, for error messages; empty when the file does not exist. */
export function tail(file: string, lines = 30): string {
  try {
    return readFileSync(file, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } catch {
    return "";
  }
}

/** Says how a child ended, with the end of its output; undefined while it runs. */
export function exitMessage({ name, logFile, exit }: Child): string | undefined {
  const ended = exit();
  if (!ended) return undefined;
  const how = ended.signal ? `was ended by ${ended.signal}` : `exited with code ${ended.code}`;
  return `${name} ${how}. The end of ${logFile}:\n${tail(logFile)}`;
}
