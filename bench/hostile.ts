/**
 * A good client's response times alone, and beside 2,100 hostile connections in the same run; and the memory and file
 * descriptors that the hostile ones cost the api. On Linux only. Each hostile connection has a client address of its own, so
 * that no limit by address stops it.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { type Child, exitMessage, startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { type BenchStack, withBenchStack } from "./bench-stack.ts";
import { descriptorsOf, residentMemoryOf } from "./process-usage.ts";
import { type Finding, median, percentile, report } from "./report.ts";

const ROUNDS = 3;
const NON_READERS = 1000;
const SLOW_BODIES = 1000;
const SLOW_READERS = 100;
const HOSTILE = NON_READERS + SLOW_BODIES + SLOW_READERS;
const ALONE_MS = 20_000;
/** Longer than the api bears a client that takes nothing (40 to 45 s): it also cuts off all of them, and they come back. */
const BESIDE_MS = 60_000;
/** A cached answer, and one that the app makes. */
const PATHS = ["/api/v1/stats/protocol", "/health"];
const GOOD_CONNECTIONS = 4;
const GOOD_PAUSE_MS = 5;

/** The good client's p99 beside hostile ones, as a multiple of that alone; the api's memory above that at rest, in MB. */
const P99_LIMIT = 2;
const MEMORY_LIMIT_MB = 150;
/** Descriptors above those at rest, for connections to Postgres that open and close by themselves. */
const DESCRIPTORS_LIMIT = 20;

/** Response times in ms, and the number of answers other than 200. */
type Answers = { readonly times: readonly number[]; readonly failures: number };

/** Asks again and again over kept-alive connections. */
async function goodClient(url: string, forMs: number): Promise<Answers> {
  const pool = new Pool(url, { connections: GOOD_CONNECTIONS });
  const until = performance.now() + forMs;
  const times: number[] = [];
  let failures = 0;
  const ask = async () => {
    for (let n = 0; performance.now() < until; n += 1) {
      const path = PATHS[n % PATHS.length] ?? "/";
      const began = performance.now();
      const { statusCode, body } = await pool.request({ method: "GET", path });
      await body.text();
      times.push(performance.now() - began);
      if (statusCode !== 200) failures += 1;
      await sleep(GOOD_PAUSE_MS);
    }
  };
  try {
    await Promise.all(Array.from({ length: GOOD_CONNECTIONS }, ask));
    return { times, failures };
  } finally {
    await pool.close();
  }
}

function startHostile({ folder }: BenchStack, apiUrl: string): Promise<Child> {
  const counts = [NON_READERS, SLOW_BODIES, SLOW_READERS].map(String);
  return startProcess({
    name: "hostile clients",
    command: process.execPath,
    args: ["--import", "tsx", "bench/hostile-clients.ts", new URL(apiUrl).port, ...counts],
    logFile: join(folder, "hostile.log"),
  });
}

type Api = { readonly url: string; readonly pid: number };
type Round = { readonly alone: Answers; readonly beside: Answers; readonly descriptors: number };

/** Measures alone, then beside hostile clients, and waits until the api has given back their descriptors. */
async function measureRound(stack: BenchStack, { url, pid }: Api): Promise<Round> {
  const alone = await goodClient(url, ALONE_MS);
  const before = descriptorsOf(pid);
  const hostile = await startHostile(stack, url);
  try {
    await waitFor({
      what: "the hostile clients' connections",
      // A few may be on their way back.
      probe: () => descriptorsOf(pid) >= before + 0.95 * HOSTILE || undefined,
      giveUpReason: () => exitMessage(hostile),
    });
    const descriptors = descriptorsOf(pid);
    return { alone, beside: await goodClient(url, BESIDE_MS), descriptors };
  } finally {
    await hostile.stop();
    await waitFor({
      what: "the api to give back the descriptors",
      probe: () => descriptorsOf(pid) <= before + DESCRIPTORS_LIMIT || undefined,
    });
  }
}

function findingsOf(rounds: readonly Round[], restMemory: number, peakMemory: number): Finding[] {
  const middle = (kind: "alone" | "beside", share: number) =>
    median(rounds.map((round) => percentile(round[kind].times, share)));
  const failures = (kind: "alone" | "beside") => rounds.reduce((sum, round) => sum + round[kind].failures, 0);
  const p99Alone = middle("alone", 99);
  return [
    { what: "good client alone, median", value: middle("alone", 50), unit: "ms" },
    { what: "  p99", value: p99Alone, unit: "ms" },
    { what: "  failures", value: failures("alone"), unit: "" },
    { what: "good client beside the hostile ones, median", value: middle("beside", 50), unit: "ms" },
    { what: "  p99", value: middle("beside", 99), unit: "ms", limit: P99_LIMIT * p99Alone },
    { what: "  failures", value: failures("beside"), unit: "" },
    { what: "memory of the api at rest", value: restMemory, unit: "MB" },
    {
      what: "  highest beside the hostile ones",
      value: peakMemory,
      unit: "MB",
      limit: restMemory + MEMORY_LIMIT_MB,
    },
    {
      what: "descriptors of the api beside them; all came back",
      value: median(rounds.map(({ descriptors }) => descriptors)),
      unit: "",
    },
  ];
}

export const benchHostile = (): Promise<void> =>
  withBenchStack({}, async (stack) => {
    const services = await stack.startServices(["indexer"], {
      more: { api: { TRUST_PROXY: "loopback", PUBLIC_RATE_LIMIT: "1000000000" } }, // of the good client
    });
    const { pid } = await services.start("api");
    const api = { url: services.apiUrl, pid };
    await waitFor({
      what: "the index",
      probe: async () => (await fetch(`${api.url}${PATHS[0]}`)).ok || undefined,
    });
    await goodClient(api.url, ALONE_MS); // its memory at rest is that after some load
    const rest = residentMemoryOf(pid, "VmRSS") ?? Number.NaN;
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measureRound(stack, api));
    report(
      `A good client beside ${NON_READERS} clients that never read, ${SLOW_BODIES} slow bodies, ${SLOW_READERS} slow readers`,
      findingsOf(rounds, rest, residentMemoryOf(pid, "VmHWM") ?? Number.NaN),
    );
  });
