/** Memory and CPU time of processes, as Linux counts them. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** A file of `/proc` about a process; empty when it has ended. */
function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Resident memory of a process in MB: now (`VmRSS`) or the highest so far (`VmHWM`); undefined except on Linux. */
export function residentMemoryOf(pid: number, which: "VmRSS" | "VmHWM"): number | undefined {
  const kilobytes = new RegExp(`^${which}:\\s+(\\d+)`, "m").exec(readProcess(pid, "status"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** Seconds of CPU so far, with those of the children that have ended; 0 when the process itself has ended. */
function cpuSeconds(pid: number): number {
  const stat = readProcess(pid, "stat");
  if (stat === "") return 0;
  const times = stat
    .replace(/^.*\) /s, "") // the name is in brackets and may contain spaces
    .split(" ")
    .slice(11, 15) // utime, stime, cutime, cstime
    .map(Number);
  return times.reduce((total, time) => total + time, 0) / TICKS_PER_SECOND;
}

/** Seconds of CPU so far of each process and its children: Postgres is its postmaster and all of its backends. */
function cpuSecondsOf(processes: Iterable<readonly [name: string, pid: number]>): Map<string, number> {
  const parents = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const children = (parent: number) => parents.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
  return new Map(
    [...processes].map(([name, pid]) => [
      name,
      [pid, ...children(pid)].reduce((total, one) => total + cpuSeconds(one), 0),
    ]),
  );
}

/** Milliseconds of CPU that each process uses while `run` runs. */
export async function cpuDuring(
  processes: readonly (readonly [name: string, pid: number])[],
  run: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const before = cpuSecondsOf(processes);
  await run();
  const after = cpuSecondsOf(processes);
  return new Map([...after].map(([name, seconds]) => [name, 1000 * (seconds - (before.get(name) ?? 0))]));
}
