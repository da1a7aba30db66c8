/**
 * Webhooks end to end: real processes index mined events, write them to the outbox and deliver them. Deliveries a second
 * are compared with a bare undici loop that posts the same bodies to the same receiver with the same concurrency, in turn
 * and in the same run. Every subscription receives every burn: ten burns make ten thousand deliveries to a thousand
 * subscriptions.
 */
import { createServer } from "node:http";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { freePort } from "../scripts/local/ports.ts";
import { HOST_CONCURRENCY } from "../workers/webhooks/dispatcher.ts";
import { postBare } from "./bare-post-loop.ts";
import { withBenchStack } from "./bench-stack.ts";
import { call } from "./miner.ts";
import { residentMemoryOf } from "./process-usage.ts";
import { PRODUCT } from "./purchase-load.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { benchWebhooksAtScale } from "./webhooks-scale.ts";
import { type Counts, prepareWebhooks, type WebhooksStack } from "./webhooks-stack.ts";

const ROUNDS = 3;
const SUBSCRIPTIONS = 1000;
/** Burns in each measured block. */
const BURNS = 10;
/** The writer's concurrency limit for one host. */
const CONCURRENCY = HOST_CONCURRENCY.regular;
const PURCHASES = 100;
const MEMORY = { deliveries: 100_000, burnsOfBlock: 20, pollMs: 250 };
const GOOD = 800;
const HANGING = 100;
const REFUSING = 100;
/** Aims on two cores. */
const LATENCY_LIMIT_MS = 300;
const OF_BARE = 0.4;
/** Limit of the last quarter's median memory, as a multiple of the first quarter's. */
const GROWTH_LIMIT = 1.15;
/** Limit of the time beside failing subscriptions, as a multiple of the time without them. They get a fifth of all requests. */
const BESIDE_LIMIT = 1.5;

/** Milliseconds from mining a purchase to the arrival of its event. */
async function latencies({ miner, protocol, owner, subscribe }: WebhooksStack): Promise<number[]> {
  const { contracts } = protocol.deployment;
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const buyer = anvilAccount(9);
  await miner.mine([
    call(owner, contracts.usdc, mockUsdcAbi, "mint", buyer.address, 10n ** 12n),
    call(buyer, contracts.usdc, mockUsdcAbi, "approve", contracts.coverRouter, 10n ** 12n),
  ]);
  let arrived: (at: number) => void = () => {};
  const server = createServer((request, response) => {
    const at = performance.now();
    request.resume().on("end", () => {
      response.end();
      arrived(at);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await subscribe([`http://127.0.0.1:${port}/`], () => buyer.address, "policy_purchased");
  const { productId, asset } = product;
  const args = [productId, MINIMUM_COVERAGE, asset] as const;
  const delays: number[] = [];
  try {
    for (let n = 0; n < PURCHASES; n += 1) {
      const arrival = new Promise<number>((resolve) => {
        arrived = resolve;
      });
      await miner.mine([call(buyer, contracts.coverRouter, coverRouterAbi, "purchasePolicy", ...args)]);
      const minedAt = performance.now();
      delays.push((await arrival) - minedAt);
      // A random pause, so that blocks do not keep step with the indexer's polls.
      await sleep(Math.random() * 200);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
  return delays;
}

async function measureLatency(stack: WebhooksStack): Promise<Finding[]> {
  const delays = await latencies(stack);
  return [
    { what: "mined to delivered, median", value: median(delays), unit: "ms", limit: LATENCY_LIMIT_MS },
    { what: "mined to delivered, 99th percentile", value: percentile(delays, 99), unit: "ms" },
  ];
}

/** Deliveries a second, from the first arrival to the last. */
const rateOf = ({ total, first, last }: Counts): number => (1000 * total) / Math.max(1, last - first);

/** Mines a block of burns and waits until all are delivered. */
async function burnAndDeliver(stack: WebhooksStack, burns: number, good: number) {
  await stack.resetCounts();
  await stack.burn(burns);
  const minedAt = Date.now();
  const counts = await stack.delivered(burns * good, good);
  await stack.allAttempted();
  return { counts, minedAt };
}

async function measureRate(stack: WebhooksStack): Promise<Finding[]> {
  const good = stack.targets("good", SUBSCRIPTIONS);
  await stack.subscribe(good, () => stack.owner.address, "token_burned");
  const [bare, ours, whole]: [number[], number[], number[]] = [[], [], []];
  // The first round warms both up and does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { counts, minedAt } = await burnAndDeliver(stack, BURNS, SUBSCRIPTIONS);
    const rows = await stack.sql<{ body: string }[]>`
      select body from service.event order by seq desc limit ${BURNS}`;
    await stack.resetCounts();
    await postBare(
      good,
      rows.map(({ body }) => body),
      CONCURRENCY,
    );
    const bareCounts = await stack.counts();
    if (round === 0) continue;
    ours.push(rateOf(counts));
    whole.push((1000 * counts.total) / (counts.last - minedAt));
    bare.push(rateOf(bareCounts));
  }
  const base = median(bare);
  return [
    { what: "a bare loop that posts the same bodies", value: base, unit: "/s" },
    {
      what: `${SUBSCRIPTIONS} subscriptions, ${BURNS} events each`,
      value: median(ours),
      unit: "/s",
      compared: { with: base, least: OF_BARE },
    },
    {
      what: "  counted from the block, with index and outbox",
      value: median(whole),
      unit: "/s",
      compared: { with: base },
    },
  ];
}

/** Resident memory of a process in MB, on Linux only. */
const residentMb = (pid: number): number => residentMemoryOf(pid, "VmRSS") ?? Number.NaN;

/** Uses the subscriptions of `measureRate`. */
async function measureMemory(stack: WebhooksStack): Promise<Finding[]> {
  const { deliveries, burnsOfBlock, pollMs } = MEMORY;
  const quarters: number[][] = [[], [], [], []];
  await stack.resetCounts();
  let made = 0;
  let done = false;
  const sampling = (async () => {
    while (!done) {
      quarters[Math.min(3, Math.floor((4 * made) / deliveries))]?.push(residentMb(stack.writerPid));
      made = (await stack.counts()).total;
      await sleep(pollMs);
    }
  })();
  for (let goal = 0; goal < deliveries; ) {
    goal += burnsOfBlock * SUBSCRIPTIONS;
    await stack.burn(burnsOfBlock);
    await stack.delivered(goal, SUBSCRIPTIONS);
  }
  done = true;
  await sampling;
  const [first = [], , , last = []] = quarters;
  return [
    { what: `writer's memory in the first quarter of ${deliveries}`, value: median(first), unit: "MB" },
    {
      what: "writer's memory in the last quarter",
      value: median(last),
      unit: "MB",
      limit: median(first) * GROWTH_LIMIT,
    },
    { what: "writer's memory, the most", value: Math.max(...quarters.flat()), unit: "MB" },
  ];
}

/** Median ms from the block until the good targets have received all deliveries, and half of them. */
async function timesOfGood(stack: WebhooksStack, others: readonly string[]) {
  await stack.subscribe(
    [...stack.targets("good", GOOD), ...others],
    () => stack.owner.address,
    "token_burned",
  );
  const [whole, half]: [number[], number[]] = [[], []];
  // The writer knows a bad target only once it has failed, so the first round does not count.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await stack.resetCounts();
    await stack.burn(BURNS);
    const minedAt = Date.now();
    const { last, middle } = await stack.delivered(BURNS * GOOD, GOOD);
    if (round === 0) continue;
    whole.push(last - minedAt);
    half.push(middle - minedAt);
  }
  return { whole: median(whole), half: median(half) };
}

async function measureIsolation(stack: WebhooksStack): Promise<Finding[]> {
  const alone = await timesOfGood(stack, []);
  const beside = await timesOfGood(stack, [
    ...stack.targets("hang", HANGING),
    ...stack.targets("bad", REFUSING),
  ]);
  return [
    { what: `${GOOD} subscriptions alone, ${BURNS} events each: all`, value: alone.whole, unit: "ms" },
    {
      what: `  beside ${HANGING} that hang and ${REFUSING} that refuse`,
      value: beside.whole,
      unit: "ms",
      limit: alone.whole * BESIDE_LIMIT,
    },
    { what: `${GOOD} subscriptions alone: half of it`, value: alone.half, unit: "ms" },
    {
      what: `  beside ${HANGING} that hang and ${REFUSING} that refuse`,
      value: beside.half,
      unit: "ms",
      limit: alone.half * BESIDE_LIMIT,
    },
  ];
}

export const benchWebhooks = async (): Promise<void> => {
  await benchWebhooksAtScale();
  await withBenchStack({}, async (bench) => {
    const stack = await prepareWebhooks(bench);
    const latency = await measureLatency(stack);
    report(`webhooks: ${PURCHASES} purchases, polling every 100 ms, ${cpus().length} cores`, latency);
    const about = `${ROUNDS} rounds, ${CONCURRENCY} at a time, ${cpus().length} cores`;
    report(`webhooks: deliveries a second, ${about}`, await measureRate(stack));
    report("webhooks: memory", await measureMemory(stack));
    report(`webhooks: isolation, ${ROUNDS} rounds`, await measureIsolation(stack));
  });
};
