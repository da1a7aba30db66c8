/** Inspects and signals processes by their id, on Linux and macOS. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const hasProc = existsSync("/proc/self/cmdline");

function ps(pid: number, column: "command" | "stat"): string | undefined {
  try {
    return execFileSync("ps", ["-ww", "-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}

function readProc(pid: number, file: "cmdline" | "stat"): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

/** The command line of a process, its arguments separated by spaces, or undefined when there is no such process. */
export function commandLine(pid: number): string | undefined {
  if (!hasProc) return ps(pid, "command") || undefined;
  return readProc(pid, "cmdline")?.replaceAll("\0", " ").trim() || undefined;
}

/** True while the process runs. A zombie does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  // The state follows the name, which is in brackets and may contain spaces.
  const state = hasProc ? readProc(pid, "stat")?.replace(/^.*\) /s, "") : ps(pid, "stat");
  return state !== undefined && (!state.startsWith("Z") || hasLivingThreads(pid));
}

/** A process becomes a zombie when its first thread ends, while other threads may still hold its files and ports. */
function hasLivingThreads(pid: number): boolean {
  try {
    return hasProc && readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}

/** Sends a signal to a process, or to the group that it leads. A process that has ended is no error. */
export function signalPid(pid: number, signal: NodeJS.Signals, { group = false } = {}): void {
  try {
    process.kill(group ? -pid : pid, signal);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Waits until the process has ended. @returns false when it still runs after `timeoutMs`. */
export async function waitUntilGone(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(pid)) {
    if (Date.now() >= deadline) return false;
    await sleep(10);
  }
  return true;
}
