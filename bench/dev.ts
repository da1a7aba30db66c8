/**
 * The dev stack: the time from `npm run dev` to ready with packages installed, and the CPU of all of its processes at rest, with a
 * block a second on its chain (on Linux).
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { separateEnvironment } from "../scripts/dev/environment.ts";
import { readProcessRecord } from "../scripts/dev/process-record.ts";
import { exitMessage, startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { cpuDuring } from "./process-usage.ts";
import { type Finding, median, report } from "./report.ts";
import { makeFolder, startPart, withParts } from "./stack.ts";

const STARTS = 3;
const READY_WITHIN_S = 15;
/** Of one core, in percent. */
const REST_CPU = 15;
/** Start-up work ends meanwhile, with the keeper's first audit and V8's compilations. */
const SETTLE_MS = 60_000;
const REST_MS = 30_000;

/** Starts `npm run dev` with ports and a folder of its own. @returns the seconds until it is ready */
async function startDevStack(folder: string): Promise<{ seconds: number; stop: () => Promise<unknown> }> {
  const own = await separateEnvironment(folder);
  const began = performance.now();
  const child = await startPart(async () => {
    const started = await startProcess({
      name: "dev stack",
      command: process.execPath,
      args: ["scripts/run.mjs", "scripts/dev.ts"],
      logFile: join(folder, "dev.log"),
      env: { ...process.env, ...own },
    });
    return { ...started, stop: () => started.stop({ graceMs: 30_000 }) };
  });
  await waitFor({
    what: "the dev stack to be ready",
    probe: () => readFileSync(child.logFile, "utf8").includes("Ready in ") || undefined,
    giveUpReason: () => exitMessage(child),
    timeoutMs: 120_000,
    intervalMs: 20,
  });
  return { seconds: (performance.now() - began) / 1000, stop: child.stop };
}

async function atRest(folder: string): Promise<Finding[]> {
  await sleep(SETTLE_MS);
  const children = readProcessRecord(folder)?.children ?? [];
  const used = await cpuDuring(
    children.map(({ name, pid }) => [name, pid] as const),
    () => sleep(REST_MS),
  );
  const percent = new Map([...used].map(([name, ms]) => [name, (100 * ms) / REST_MS]));
  const total = [...percent.values()].reduce((sum, value) => sum + value, 0);
  return [
    { what: "CPU of all processes at rest, of one core", value: total, unit: "%", atMost: REST_CPU },
    ...[...percent].map(([name, value]) => ({ what: `  ${name}`, value, unit: "%" })),
  ];
}

export const benchDev = (): Promise<void> =>
  withParts(async () => {
    const times: number[] = [];
    let rest: Finding[] = [];
    const folder = makeFolder();
    for (let start = 1; start <= STARTS; start += 1) {
      const stack = await startDevStack(join(folder, String(start)));
      times.push(stack.seconds);
      if (start === STARTS && process.platform === "linux") rest = await atRest(join(folder, String(start)));
      await stack.stop();
    }
    report(`dev: ${STARTS} starts, then ${REST_MS / 1000} s at rest`, [
      { what: "npm run dev to ready, median", value: median(times), unit: "s", atMost: READY_WITHIN_S },
      ...rest,
    ]);
  });
