/** Rates, times, CPU and waits of purchases, with transactions sent to the chain directly in turn. */
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { sampleWaits } from "./lock-waits.ts";
import { CONNECTIONS, inTurn, measureRaw, measureService, waitingFor } from "./measure-purchases.ts";
import { cpuDuring, cpuPerUnit } from "./process-usage.ts";
import { type Agents, buyAtFullLoad, buyAtRate } from "./purchase-load.ts";
import { broadcastDelays, type PurchasesStack, untilFinal } from "./purchases-stack.ts";
import { type Finding, median, percentile } from "./report.ts";

export const ROUNDS = 3;
const PURCHASES = 2000;
const WAITING = 500;
const MODERATE = { count: 200, perSecond: 20 };
/** On two cores: the share of the chain's own rate that purchases must reach, and should reach. */
const OF_RAW = { limit: 0.45, least: 0.7 };
const ACCEPT_LIMIT_MS = 250;
const BROADCAST_LIMIT_MS = 50;
/** Of what sessions wait for, the longest are printed. */
const MOST_WAITS = 15;

/** Mean milliseconds of each stage since the writer's start, from its histograms. */
async function stageMeans({ metricsUrl }: ServiceStack): Promise<Finding[]> {
  const text = await (await fetch(metricsUrl)).text();
  const of = (kind: string) =>
    new Map(
      [...text.matchAll(new RegExp(`^relay_stage_seconds_${kind}{stage="(\\w+)"} (\\S+)$`, "gm"))].map(
        ([, stage = "", value]) => [stage, Number(value)] as const,
      ),
    );
  const counts = of("count");
  return [...of("sum")].map(([stage, sum]) => ({
    what: `  stage ${stage}, mean`,
    value: (1000 * sum) / (counts.get(stage) ?? Number.NaN),
    unit: "ms",
  }));
}

/**
 * One more round, in which the waits are sampled: sampling takes CPU, so that it is no part of the other figures. A wallet's
 * signing rounds follow each other in the writer, so a signing statement that waits for the writer waits for another wallet.
 */
async function measureWaits(stack: PurchasesStack, agents: Agents): Promise<Finding[]> {
  const sampler = sampleWaits(stack.sql);
  await measureService(stack, PURCHASES, () => buyAtFullLoad(agents, "sampled", inTurn(PURCHASES)));
  const waits = await sampler.stop();
  const perPurchase = (some: typeof waits) =>
    (1000 * some.reduce((total, { seconds }) => total + seconds, 0)) / PURCHASES;
  const between = waits.filter(({ wait }) => wait.holder !== null);
  const ofWriter = between.filter(({ wait }) => wait.waiter === "writer" && wait.holder === "writer");
  return [
    { what: "waits in Postgres per purchase, all sessions", value: perPurchase(waits), unit: "ms" },
    { what: "  for locks of other sessions", value: perPurchase(between), unit: "ms" },
    { what: "  for locks, the writer for itself", value: perPurchase(ofWriter), unit: "ms" },
    ...waits.slice(0, MOST_WAITS).map((one) => {
      const { event, waiter, statement, holder } = one.wait;
      const who = holder === null ? waiter : `${waiter} for ${holder}`;
      return { what: `  ${event}: ${who} (${statement})`, value: perPurchase([one]), unit: "ms" };
    }),
  ];
}

export async function measureThroughput(
  stack: PurchasesStack,
  services: ServiceStack,
  agents: Agents,
): Promise<{ throughput: Finding[]; cpu: Finding[]; waits: Finding[] }> {
  const [raw, async, waiting]: [number[], number[], number[]] = [[], [], []];
  const [answers, slowest]: [number[], number[]] = [[], []];
  const [full, patient]: [number[], number[]] = [[], []];
  const cpu: Map<string, number>[] = [];
  await measureService(stack, CONNECTIONS, () => buyAtFullLoad(agents, "warm", inTurn(CONNECTIONS)));
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilFinal(stack);
    raw.push(await measureRaw(stack, PURCHASES));
    const name = `full-${round}`;
    const used = await cpuDuring(stack.processes, async () => {
      const served = await measureService(stack, PURCHASES, () =>
        buyAtFullLoad(agents, name, inTurn(PURCHASES)),
      );
      async.push(served.perSecond);
      const times = served.answers.map(({ ms }) => ms);
      answers.push(median(times));
      slowest.push(percentile(times, 99));
      await untilFinal(stack);
    });
    cpu.push(used);
    full.push(median(await broadcastDelays(stack, name)));
    const closed = await measureService(stack, WAITING, () =>
      buyAtFullLoad(agents, `wait-${round}`, waitingFor(WAITING)),
    );
    waiting.push(closed.perSecond);
    patient.push(median(await broadcastDelays(stack, `wait-${round}`)));
  }
  const stages = await stageMeans(services);
  await untilFinal(stack);
  await measureService(stack, MODERATE.count, () => buyAtRate(agents, "moderate", MODERATE));
  const moderate = await broadcastDelays(stack, "moderate");
  const waits = await measureWaits(stack, agents);
  const chain = median(raw);
  const throughput = [
    { what: "signed transactions sent to the chain directly", value: chain, unit: "/s" },
    {
      what: `${PURCHASES} purchases, respond-async`,
      value: median(async),
      unit: "/s",
      compared: { with: chain, ...OF_RAW },
    },
    {
      what: `${WAITING} purchases that wait: ${CONNECTIONS} a block at most`,
      value: median(waiting),
      unit: "/s",
      compared: { with: chain },
    },
    { what: "answer 202, median at full load", value: median(answers), unit: "ms" },
    { what: "  99th percentile", value: median(slowest), unit: "ms", limit: ACCEPT_LIMIT_MS },
    {
      what: `accepted to broadcast, median at ${MODERATE.perSecond}/s`,
      value: median(moderate),
      unit: "ms",
      limit: BROADCAST_LIMIT_MS,
    },
    { what: "  99th percentile", value: percentile(moderate, 99), unit: "ms" },
    {
      what: `accepted to broadcast, median of ${CONNECTIONS} that wait`,
      value: median(patient),
      unit: "ms",
      limit: BROADCAST_LIMIT_MS,
    },
    // Accepting is faster than relaying, so purchases queue up.
    { what: "accepted to broadcast, median of respond-async", value: median(full), unit: "ms" },
    ...stages,
  ];
  return { throughput, cpu: cpuPerUnit("CPU per purchase until it is final", cpu, PURCHASES), waits };
}
