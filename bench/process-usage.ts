/** Memory, CPU time and file descriptors of processes, as Linux counts them. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readProcessRecord } from "../scripts/dev/process-record.ts";
import { type Finding, median } from "./report.ts";

/** A process of the stack with its children: Postgres is its postmaster and all of its backends. */
type ProcessTree = { readonly name: string; readonly pids: readonly number[] };

/** Linux counts a process's time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** The processes with these ids, each with its children. */
function treesOf(roots: readonly { readonly name: string; readonly pid: number }[]): ProcessTree[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  return roots.map(({ name, pid }) => ({
    name,
    pids: [pid, ...rows.flatMap(([id, parent]) => (id !== undefined && parent === pid ? [id] : []))],
  }));
}

const processTrees = (dataDir: string): ProcessTree[] => treesOf(readProcessRecord(dataDir)?.children ?? []);

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Resident memory in MB. A page that several processes map counts for each in proportion. */
export function memoryOf(dataDir: string): { name: string; megabytes: number }[] {
  const kilobytes = (pid: number) =>
    Number(/^Pss:\s+(\d+)/m.exec(readProcess(pid, "smaps_rollup"))?.[1] ?? 0);
  return processTrees(dataDir).map(({ name, pids }) => ({
    name,
    megabytes: sum(pids.map(kilobytes)) / 1024,
  }));
}

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

/** Open file descriptors of a process. @throws except on Linux */
export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

/** Seconds of CPU so far, with those of the children that have ended; 0 when the process itself has ended. */
function cpuSeconds(pid: number): number {
  const stat = readProcess(pid, "stat");
  if (stat === "") return 0;
  const times = stat
    .replace(/^.*\) /s, "") // the name is in brackets and may contain spaces
    .split(" ")
    .slice(11, 15) // utime, stime, cutime, cstime
    .map(Number);
  return sum(times) / TICKS_PER_SECOND;
}

/** Seconds of CPU that each process and its children have used so far. */
export const cpuSecondsOf = (roots: Parameters<typeof treesOf>[0]): Map<string, number> =>
  new Map(treesOf(roots).map(({ name, pids }) => [name, sum(pids.map(cpuSeconds))]));

/** Milliseconds of CPU that each process uses while `run` runs; `clients` is this process. */
export async function cpuDuring(
  processes: ReadonlyMap<string, number>,
  run: () => Promise<unknown>,
): Promise<Map<string, number>> {
  const roots = [...processes].map(([name, pid]) => ({ name, pid }));
  const before = cpuSecondsOf(roots);
  const own = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(own);
  const used = [...cpuSecondsOf(roots)].map(
    ([name, seconds]) => [name, 1000 * (seconds - (before.get(name) ?? 0))] as const,
  );
  return new Map([...used, ["clients", (user + system) / 1000]]);
}

/** Milliseconds of CPU per unit of work: the median of each process over the rounds, and their sum without the clients. */
export function cpuPerUnit(
  what: string,
  rounds: readonly ReadonlyMap<string, number>[],
  units: number,
): Finding[] {
  const names = [...(rounds[0]?.keys() ?? [])];
  const each = names.map((name) => ({
    name,
    value: median(rounds.map((round) => (round.get(name) ?? 0) / units)),
  }));
  return [
    {
      what: `${what}, all processes`,
      value: sum(each.flatMap(({ name, value }) => (name === "clients" ? [] : [value]))),
      unit: "ms",
    },
    ...each.map(({ name, value }) => ({ what: `  ${name}`, value, unit: "ms" })),
  ];
}

/** The share of one core that each process uses within `ms`, in percent. */
export async function cpuOf(dataDir: string, ms: number): Promise<{ name: string; percent: number }[]> {
  const roots = readProcessRecord(dataDir)?.children ?? [];
  const before = cpuSecondsOf(roots);
  const began = performance.now();
  await sleep(ms);
  const elapsed = (performance.now() - began) / 1000;
  return [...cpuSecondsOf(roots)].map(([name, after]) => ({
    name,
    percent: ((after - (before.get(name) ?? after)) / elapsed) * 100,
  }));
}
