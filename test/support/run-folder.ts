/** The folder of one test run: its Postgres, the output of its processes, and a note of each process it started. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, isRunning, signalPid } from "../../scripts/local/pids.ts";

const prefix = "cover-tests-";
const goneMs = 5_000;
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Makes the folder of a new run; its name tells the run's process. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  mkdirSync(join(folder, "pids"));
  return folder;
}

/** Notes a process, so that it is ended with the run even when the test that started it was ended first. */
export function notePid(runFolder: string, pid: number): void {
  writeFileSync(join(runFolder, "pids", String(pid)), commandLine(pid) ?? "");
}

export function forgetPid(runFolder: string, pid: number): void {
  rmSync(join(runFolder, "pids", String(pid)), { force: true });
}

/**
 * Kills the noted processes that still run; the command line tells them from others that got their id. Waits until they
 * are gone, and blocks meanwhile, so that it can be done at a process's exit.
 */
function killNoted(runFolder: string): void {
  const pids = join(runFolder, "pids");
  const alive = readdirSync(pids)
    .map(Number)
    .filter((pid) => isRunning(pid) && commandLine(pid) === readFileSync(join(pids, String(pid)), "utf8"));
  for (const pid of alive) signalPid(pid, "SIGKILL");
  const deadline = Date.now() + goneMs;
  while (alive.some(isRunning) && Date.now() < deadline) pause(20);
}

/** Ends what the run left behind and deletes its folder; done already is no error. */
export function removeRunFolder(runFolder: string): void {
  if (!existsSync(runFolder)) return;
  killNoted(runFolder);
  // A killed Postgres's sessions write for a moment yet.
  rmSync(runFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** Cleans up after runs of this user that were killed. Runs that are still alive are left alone. */
export function sweepDeadRuns(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const owner = Number(name.slice(prefix.length).split("-")[0]);
    try {
      if (Number.isInteger(owner) && !isRunning(owner)) removeRunFolder(folder);
    } catch {
      // another user's, or another run is sweeping it as well
    }
  }
}
