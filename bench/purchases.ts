/**
 * Purchases end to end, compared with the chain's own throughput: as many signed `purchasePolicyFor` transactions sent to
 * it directly, in turn and in the same run. With a block a second, a hundred callers that wait for their blocks buy at most
 * a hundred policies a second; with `Prefer: respond-async` no caller waits. No indexer runs.
 */
import { cpus } from "node:os";
import { encodeFunctionData } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { freePort } from "../scripts/local/ports.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { withBenchStack } from "./bench-stack.ts";
import { type Agents, type Answer, buyAtFullLoad, buyAtRate, openAgents, PRODUCT } from "./purchase-load.ts";
import {
  broadcastDelays,
  countOnChain,
  type PurchasesStack,
  preparePurchases,
  untilFinal,
} from "./purchases-stack.ts";
import { minedOf, sendAndMine, signCalls, untilMined } from "./raw-transactions.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { startRpcMeter } from "./rpc-meter.ts";

const ROUNDS = 3;
const PURCHASES = 2000;
const WAITING = 500;
const CONNECTIONS = 100;
const WALLETS = 2;
const MODERATE = { count: 200, perSecond: 20 };
const METERED = 1000;
const LIMITED = { purchases: 100, perSecond: 10 };
/** Aims on two cores. */
const OF_RAW = 0.5;
const BROADCAST_LIMIT_MS = 50;
const CALLS_LIMIT = 3;
const MINED_WITHIN_MS = 120_000;
/** More than a purchase uses, by the same margin as the service's. */
const RAW_GAS = 600_000n;

const inTurn = (count: number) => ({ count, connections: CONNECTIONS, wait: false });
const waitingFor = (count: number) => ({ count, connections: CONNECTIONS, wait: true });

/** Signs as many purchases as the service makes, from other wallets, and sends them to the chain directly. */
async function measureRaw({ node, chain: { deployment }, buyers, rivals }: PurchasesStack): Promise<number> {
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const signed = await Promise.all(
    rivals.map(async (rival, index) => {
      const own = Array.from({ length: PURCHASES / rivals.length }, (_, n) => {
        const buyer = buyers[(n * rivals.length + index) % buyers.length];
        if (!buyer) throw new Error("there are no buyers");
        const data = encodeFunctionData({
          abi: coverRouterAbi,
          functionName: "purchasePolicyFor",
          args: [product.productId, MINIMUM_COVERAGE, product.asset, buyer.address],
        });
        return { to: deployment.contracts.coverRouter, data, gas: RAW_GAS };
      });
      return signCalls(rival, deployment.chainId, await minedOf(node, rival.address), own);
    }),
  );
  // Alternating, so that the nonces of each wallet arrive in order.
  const alternating = Array.from({ length: PURCHASES }, (_, n) => {
    const bytes = signed[n % rivals.length]?.[Math.floor(n / rivals.length)];
    if (!bytes) throw new Error("too few transactions were signed");
    return bytes;
  });
  const wallets = rivals.map(({ address }) => address);
  return PURCHASES / (await sendAndMine(node, wallets, alternating));
}

type Measured = { perSecond: number; answers: readonly Answer[] };

/** Buys and waits until all purchases are mined. The rate covers the time from the first call to the last block. */
async function measureService(
  { node, relayers }: PurchasesStack,
  count: number,
  buy: () => Promise<Answer[]>,
): Promise<Measured> {
  const wallets = relayers.map(({ address }) => address);
  const before = await Promise.all(wallets.map((wallet) => minedOf(node, wallet)));
  const goal = before.reduce((a, b) => a + b, 0) + count;
  const started = performance.now();
  const [answers] = await Promise.all([buy(), untilMined(node, wallets, goal, MINED_WITHIN_MS)]);
  return { perSecond: (count * 1000) / (performance.now() - started), answers };
}

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

async function measureThroughput(
  stack: PurchasesStack,
  services: ServiceStack,
  agents: Agents,
): Promise<Finding[]> {
  const [raw, async, waiting]: [number[], number[], number[]] = [[], [], []];
  const answers: number[] = [];
  const [full, patient]: [number[], number[]] = [[], []];
  await measureService(stack, CONNECTIONS, () => buyAtFullLoad(agents, "warm", inTurn(CONNECTIONS)));
  for (let round = 0; round < ROUNDS; round += 1) {
    raw.push(await measureRaw(stack));
    const name = `full-${round}`;
    const served = await measureService(stack, PURCHASES, () =>
      buyAtFullLoad(agents, name, inTurn(PURCHASES)),
    );
    async.push(served.perSecond);
    answers.push(median(served.answers.map(({ ms }) => ms)));
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
  const chain = median(raw);
  return [
    { what: "signed transactions sent to the chain directly", value: chain, unit: "/s" },
    {
      what: `${PURCHASES} purchases, respond-async`,
      value: median(async),
      unit: "/s",
      compared: { with: chain, least: OF_RAW },
    },
    {
      what: `${WAITING} purchases that wait: ${CONNECTIONS} a block at most`,
      value: median(waiting),
      unit: "/s",
      compared: { with: chain },
    },
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
    { what: "answer 202, median at full load", value: median(answers), unit: "ms" },
    ...stages,
  ];
}

/** Counts the RPC calls of api and writer. Measured separately, because counting slows the calls down. */
async function measureCalls(stack: PurchasesStack): Promise<Finding[]> {
  const meter = await startRpcMeter(stack.chain.url, await freePort());
  const services = await stack.serve(meter.url);
  try {
    const agents = await openAgentsOf(stack, services);
    meter.reset();
    await measureService(stack, METERED, () => buyAtFullLoad(agents, "metered", inTurn(METERED)));
    const calls = [...meter.calls].sort(([, a], [, b]) => b - a);
    const sum = calls.reduce((total, [, count]) => total + count, 0);
    const { served } = meter.requests();
    const findings: Finding[] = [
      { what: "RPC calls per purchase under load", value: sum / METERED, unit: "", limit: CALLS_LIMIT },
      { what: "  in HTTP requests per purchase", value: served / METERED, unit: "" },
      ...calls.map(([method, count]) => ({ what: `  ${method}`, value: count / METERED, unit: "" })),
    ];

    meter.limit(LIMITED.perSecond);
    const { purchases } = LIMITED;
    const limited = await measureService(stack, purchases, () =>
      buyAtFullLoad(agents, "limited", waitingFor(purchases)),
    ).catch(() => undefined);
    const bought = limited?.answers.filter(({ status }) => status === 201).length ?? 0;
    await agents.close();
    return [
      ...findings,
      {
        what: `on the chain, with ${LIMITED.perSecond} RPC requests a second`,
        value: await countOnChain(stack, "limited"),
        unit: `of ${purchases}`,
      },
      { what: "  answered 201", value: bought, unit: `of ${purchases}` },
      { what: "  rate", value: limited?.perSecond ?? 0, unit: "/s" },
    ];
  } finally {
    await services.stop();
    await meter.stop();
  }
}

const openAgentsOf = ({ buyers }: PurchasesStack, { apiUrl, settings }: ServiceStack) =>
  openAgents(
    apiUrl,
    settings.adminToken,
    buyers.map(({ address }) => address),
    CONNECTIONS,
  );

export const benchPurchases = (): Promise<void> =>
  withBenchStack({ relayers: 2 * WALLETS }, async (bench) => {
    const stack = await preparePurchases(bench);
    const services = await stack.serve(stack.chain.url);
    const agents = await openAgentsOf(stack, services);
    const throughput = await measureThroughput(stack, services, agents);
    await agents.close();
    await services.stop();
    const about = `${ROUNDS} rounds, ${CONNECTIONS} connections, ${WALLETS} relayer wallets, ${cpus().length} cores`;
    report(`purchases: ${about}`, throughput);
    report("purchases: RPC calls", await measureCalls(stack));
  });
