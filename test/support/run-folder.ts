/** The folder of one test run: its Postgres, its processes' output, and a record of each process. */
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
const killTimeoutMs = 5_000;
const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Creates the folder of a new run. Its name contains the run's process id. */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  mkdirSync(join(folder, "pids"));
  return folder;
}

/** Records a process, so that it is killed with the run even if the test that started it was killed first. */
export function recordPid(runFolder: string, pid: number): void {
  writeFileSync(join(runFolder, "pids", String(pid)), commandLine(pid) ?? "");
}

export function forgetPid(runFolder: string, pid: number): void {
  rmSync(join(runFolder, "pids", String(pid)), { force: true });
}

/**
 * Kills the recorded processes that still run, and waits until they have ended. Another command line means that the id now
 * belongs to another process. It is synchronous, so that it works in an exit handler.
 */
function killRecorded(runFolder: string): void {
  const pids = join(runFolder, "pids");
  const alive = readdirSync(pids)
    .map(Number)
    .filter((pid) => isRunning(pid) && commandLine(pid) === readFileSync(join(pids, String(pid)), "utf8"));
  for (const pid of alive) signalPid(pid, "SIGKILL");
  const deadline = Date.now() + killTimeoutMs;
  while (alive.some(isRunning) && Date.now() < deadline) pause(20);
}

/** Kills the run's remaining processes and deletes its folder, if it exists. */
export function removeRunFolder(runFolder: string): void {
  if (!existsSync(runFolder)) return;
  killRecorded(runFolder);
  // Sessions of a killed Postgres still write for a moment.
  rmSync(runFolder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** Removes the folders of killed runs. */
export function removeDeadRuns(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const folder = join(tmpdir(), name);
    const owner = Number(name.slice(prefix.length).split("-")[0]);
    try {
      if (Number.isInteger(owner) && !isRunning(owner)) removeRunFolder(folder);
    } catch {
      // it belongs to another user, or another run removes it too
    }
  }
}
