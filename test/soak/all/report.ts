/** What a run prints: a line a minute, and a table at the end. */
import { residentMemoryOf } from "../../../bench/process-usage.ts";
import { median } from "../../../bench/report.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { type Victim, victims } from "./plan-kills.ts";
import type { SoakWorld } from "./world.ts";

const services: readonly ServiceName[] = ["indexer", "api", "writer"];

/** Resident memory in MB; undefined when the process has ended. */
function memoryOf(pid: number): number | undefined {
  const mb = residentMemoryOf(pid, "VmRSS");
  return mb === undefined ? undefined : Math.round(mb);
}

type Sample = { readonly pid: number; readonly at: number; readonly mb: number };
/** Memory rises in the first seconds of a process whatever it does. */
const SETTLED_MS = 30_000;

export type Memory = {
  readonly look: () => void;
  /** The newest sample of each process, in MB. */
  readonly line: () => string;
  readonly table: () => Record<string, Record<string, string | number>>;
};

/** Records the resident memory of the service's processes. */
export function watchMemory({ stack }: SoakWorld): Memory {
  const samples = new Map<ServiceName, Sample[]>(services.map((name) => [name, []]));
  const begun = new Map<number, number>();
  const of = (name: ServiceName) => samples.get(name) ?? [];
  return {
    look() {
      for (const name of services) {
        const child = stack.running(name);
        if (!child || child.exit()) continue;
        const [at, mb] = [Date.now(), memoryOf(child.pid)];
        if (!begun.has(child.pid)) begun.set(child.pid, at);
        if (mb !== undefined && at - (begun.get(child.pid) ?? at) >= SETTLED_MS)
          of(name).push({ pid: child.pid, at, mb });
      }
    },
    line: () => services.map((name) => `${name} ${of(name).at(-1)?.mb ?? "?"}`).join(", "),
    table() {
      const rows = services.map((name) => {
        const all = of(name);
        const lives = [...new Set(all.map(({ pid }) => pid))].map((pid) =>
          all.filter((one) => one.pid === pid),
        );
        const long = lives.sort((a, b) => lengthOf(b) - lengthOf(a))[0] ?? [];
        return [
          name,
          {
            "first MB": all[0]?.mb ?? "",
            "last MB": all.at(-1)?.mb ?? "",
            "most MB": all.length > 0 ? Math.max(...all.map(({ mb }) => mb)) : "",
            "longest life": `${(lengthOf(long) / 60_000).toFixed(1)} min: ${long[0]?.mb} to ${long.at(-1)?.mb} MB`,
          },
        ] as const;
      });
      return Object.fromEntries(rows);
    },
  };
}

const lengthOf = (life: readonly Sample[]): number => (life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0);

/** Kills of each victim, and the downtime until the next success. */
export function outageTable(durations: ReadonlyMap<Victim, readonly number[]>) {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const rows = victims.map((victim) => {
    const all = durations.get(victim) ?? [];
    const row = {
      kills: all.length,
      "median downtime": all.length === 0 ? "" : seconds(median(all)),
      worst: all.length === 0 ? "" : seconds(Math.max(...all)),
    };
    return [victim, row] as const;
  });
  return Object.fromEntries(rows);
}
