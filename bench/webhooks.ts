/**
 * Webhooks end to end: events are mined, indexed, put into the outbox and delivered by the real processes. Deliveries per
 * second are held against a bare loop that posts the same bodies with undici to the same receiver, in the same run and in
 * turn, with as many requests under way. The receiver is a process of its own that parses next to nothing, because on two
 * cores every cycle of it would be taken from both. One burn is an event for everybody, so that a block of ten burns is ten
 * thousand deliveries for a thousand subscriptions.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { freePort } from "../scripts/local/ports.ts";
import { HOST_PLACES } from "../workers/webhooks/dispatcher.ts";
import { postBare } from "./bare-posts.ts";
import { call } from "./miner.ts";
import { PRODUCT } from "./purchase-load.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { type Counts, startWebhooksStack, type WebhooksStack } from "./webhooks-stack.ts";

const ROUNDS = 3;
const SUBSCRIPTIONS = 1000;
/** Burns of a block that is measured. */
const BURNS = 10;
/** As many requests as the writer has under way to one host. */
const CONCURRENCY = HOST_PLACES.prompt;
const PURCHASES = 100;
const MEMORY = { deliveries: 100_000, burnsOfBlock: 20, lookMs: 250 };
const GOOD = 800;
const HANGING = 100;
const REFUSING = 100;
/** Aims on two cores. */
const LATENCY_LIMIT_MS = 300;
const OF_BARE = 0.4;
/** Of the first quarter's memory, the last one's at most. */
const GROWTH_LIMIT = 1.15;
/** Of the time that the good ones take alone, at most: a fifth more requests are made. */
const BESIDE_LIMIT = 1.5;

/** Milliseconds from a mined block to its event's arrival, a purchase in each. */
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
  await subscribe([`http://127.0.0.1:${port}/`], buyer.address, "policy_purchased");
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
      // Blocks fall anywhere between two looks of the indexer, and not in step with them.
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

/** From the first arrival to the last. */
const rateOf = ({ total, first, last }: Counts): number => (1000 * total) / Math.max(1, last - first);

/** Mines a block of burns and waits for them; seconds count from the block. */
async function burnAndDeliver(stack: WebhooksStack, burns: number, good: number) {
  await stack.forget();
  await stack.burn(burns);
  const minedAt = Date.now();
  const counts = await stack.delivered(burns * good, good);
  await stack.atRest();
  return { counts, minedAt };
}

async function measureRate(stack: WebhooksStack): Promise<Finding[]> {
  const good = stack.targets("good", SUBSCRIPTIONS);
  await stack.subscribe(good, stack.owner.address, "token_burned");
  const [bare, ours, whole]: [number[], number[], number[]] = [[], [], []];
  // The first round is not counted: neither of the two has run before.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { counts, minedAt } = await burnAndDeliver(stack, BURNS, SUBSCRIPTIONS);
    const rows = await stack.connection.sql<{ body: string }[]>`
      select body from service.event order by seq desc limit ${BURNS}`;
    await stack.forget();
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

/** What a process holds in memory, in MB; Linux alone tells. */
function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

/** Subscriptions as in the measurement before. */
async function measureMemory(stack: WebhooksStack): Promise<Finding[]> {
  const { deliveries, burnsOfBlock, lookMs } = MEMORY;
  const quarters: number[][] = [[], [], [], []];
  await stack.forget();
  let made = 0;
  let over = false;
  const looking = (async () => {
    while (!over) {
      quarters[Math.min(3, Math.floor((4 * made) / deliveries))]?.push(residentMb(stack.writerPid()));
      made = (await stack.counts()).total;
      await sleep(lookMs);
    }
  })();
  for (let goal = 0; goal < deliveries; ) {
    goal += burnsOfBlock * SUBSCRIPTIONS;
    await stack.burn(burnsOfBlock);
    await stack.delivered(goal, SUBSCRIPTIONS);
  }
  over = true;
  await looking;
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

/** Median seconds from the block until the good ones have everything, and until they have half of it. */
async function timesOfGood(stack: WebhooksStack, others: readonly string[]) {
  await stack.subscribe([...stack.targets("good", GOOD), ...others], stack.owner.address, "token_burned");
  const [whole, half]: [number[], number[]] = [[], []];
  // Of the bad ones it is known only once they have failed.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await stack.forget();
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

export async function benchWebhooks(): Promise<void> {
  const stack = await startWebhooksStack();
  try {
    const latency = await measureLatency(stack);
    report(`webhooks: ${PURCHASES} purchases, polling every 100 ms, ${cpus().length} cores`, latency);
    const about = `${ROUNDS} rounds, ${CONCURRENCY} at a time, ${cpus().length} cores`;
    report(`webhooks: deliveries a second, ${about}`, await measureRate(stack));
    report("webhooks: memory", await measureMemory(stack));
    report(`webhooks: isolation, ${ROUNDS} rounds`, await measureIsolation(stack));
  } finally {
    await stack.stop();
  }
}
