/**
 * Purchases end to end, against what the chain itself can do: as many signed `purchasePolicyFor` transactions fired
 * straight at it, in the same run and in turn. The chain has a block a second, so that a hundred callers who each wait for
 * their block buy a hundred a second at most, whoever serves them; with `Prefer: respond-async` nobody waits for a block.
 * No indexer runs.
 */
import { cpus } from "node:os";
import { encodeFunctionData } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { freePort } from "../scripts/local/ports.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { type Agents, type Answer, openAgents, PRODUCT, rush, trickle } from "./purchase-load.ts";
import { type PurchasesStack, startPurchasesStack } from "./purchases-stack.ts";
import { fire, minedOf, signCalls, untilMined } from "./raw-transactions.ts";
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
/** Above the need of a purchase, as the service's own margin is. */
const RAW_GAS = 600_000n;

const inTurn = (count: number) => ({ count, connections: CONNECTIONS, wait: false });
const waitingFor = (count: number) => ({ count, connections: CONNECTIONS, wait: true });

/** Signs as many purchases as the service will make, by wallets of their own, and fires them at the chain. */
async function measureRaw({ node, deployment, buyers, rivals }: PurchasesStack): Promise<number> {
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
  // In turn, so that every wallet's nonces arrive in their order.
  const alternating = Array.from({ length: PURCHASES }, (_, n) => {
    const bytes = signed[n % rivals.length]?.[Math.floor(n / rivals.length)];
    if (!bytes) throw new Error("too few transactions were signed");
    return bytes;
  });
  const wallets = rivals.map(({ address }) => address);
  return PURCHASES / (await fire(node, wallets, alternating));
}

type Served = { perSecond: number; answers: readonly Answer[] };

/** Buys, and waits until all of it is mined; the seconds count from the first call to the last block. */
async function measureService(
  { node, relayers }: PurchasesStack,
  count: number,
  buy: () => Promise<Answer[]>,
): Promise<Served> {
  const wallets = relayers.map(({ address }) => address);
  const before = await Promise.all(wallets.map((wallet) => minedOf(node, wallet)));
  const goal = before.reduce((a, b) => a + b, 0) + count;
  const started = performance.now();
  const [answers] = await Promise.all([buy(), untilMined(node, wallets, goal, MINED_WITHIN_MS)]);
  return { perSecond: (count * 1000) / (performance.now() - started), answers };
}

/** Milliseconds from a purchase's row to the node's answer to its bytes, by the database's clock. */
async function broadcastDelays({ sql }: PurchasesStack, name: string): Promise<number[]> {
  const rows = await sql<{ ms: number }[]>`
    select extract(epoch from a.last_broadcast_at - p.created_at)::float8 * 1000 as ms
    from service.purchase p join service.transaction t on t.purchase_id = p.id
    join service.attempt a on a.transaction_id = t.id
    where p.idempotency_key like ${`${name}-%`} and a.last_broadcast_at is not null`;
  return rows.map(({ ms }) => ms);
}

/** Purchases of this name that are on the chain, by the ledger, which learned it from the chain's own receipts. */
async function landed({ sql }: PurchasesStack, name: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct policy_id)::int as count from service.purchase
    where idempotency_key like ${`${name}-%`} and state in ('mined', 'confirmed')`;
  return row?.count ?? 0;
}

/** Waits until everything bought so far is final, so that what follows is measured alone. */
const untilFinal = ({ sql }: PurchasesStack) =>
  waitFor({
    what: "all purchases to be final",
    probe: async () => {
      const open = await sql`select 1 from service.purchase where final_at is null limit 1`;
      return open.length === 0 || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 500,
  });

/** Mean milliseconds of each stage, from the writer's own histograms since its start. */
async function stageMeans({ metricsUrl }: PurchasesStack): Promise<Finding[]> {
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

async function measureThroughput(stack: PurchasesStack, agents: Agents): Promise<Finding[]> {
  const [raw, async, waiting]: [number[], number[], number[]] = [[], [], []];
  const answers: number[] = [];
  const [full, patient]: [number[], number[]] = [[], []];
  await measureService(stack, CONNECTIONS, () => rush(agents, "warm", inTurn(CONNECTIONS)));
  for (let round = 0; round < ROUNDS; round += 1) {
    raw.push(await measureRaw(stack));
    const name = `full-${round}`;
    const served = await measureService(stack, PURCHASES, () => rush(agents, name, inTurn(PURCHASES)));
    async.push(served.perSecond);
    answers.push(median(served.answers.map(({ ms }) => ms)));
    full.push(median(await broadcastDelays(stack, name)));
    const closed = await measureService(stack, WAITING, () =>
      rush(agents, `wait-${round}`, waitingFor(WAITING)),
    );
    waiting.push(closed.perSecond);
    patient.push(median(await broadcastDelays(stack, `wait-${round}`)));
  }
  const stages = await stageMeans(stack);
  await untilFinal(stack);
  await measureService(stack, MODERATE.count, () => trickle(agents, "moderate", MODERATE));
  const moderate = await broadcastDelays(stack, "moderate");
  const chain = median(raw);
  return [
    { what: "signed transactions straight at the chain", value: chain, unit: "/s" },
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
    // Accepting is faster than relaying: this is how long the line becomes.
    { what: "accepted to broadcast, median of respond-async", value: median(full), unit: "ms" },
    { what: "answer 202, median at full load", value: median(answers), unit: "ms" },
    ...stages,
  ];
}

/** What api and writer ask of the node; apart from the rest, because whoever counts slows down. */
async function measureCalls(stack: PurchasesStack): Promise<Finding[]> {
  const meter = await startRpcMeter(stack.rpcUrl, await freePort());
  try {
    await stack.serve(meter.url);
    const agents = await openAgents(stack.apiUrl, stack.adminToken, addressesOf(stack), CONNECTIONS);
    meter.reset();
    await measureService(stack, METERED, () => rush(agents, "metered", inTurn(METERED)));
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
      rush(agents, "limited", waitingFor(purchases)),
    ).catch(() => undefined);
    const bought = limited?.answers.filter(({ status }) => status === 201).length ?? 0;
    await agents.close();
    return [
      ...findings,
      {
        what: `behind ${LIMITED.perSecond} RPC requests a second: on the chain`,
        value: await landed(stack, "limited"),
        unit: `of ${purchases}`,
      },
      { what: "  answered 201", value: bought, unit: `of ${purchases}` },
      { what: "  a second", value: limited?.perSecond ?? 0, unit: "/s" },
    ];
  } finally {
    await stack.serve(stack.rpcUrl);
    await meter.stop();
  }
}

const addressesOf = ({ buyers }: PurchasesStack) => buyers.map(({ address }) => address);

export async function benchPurchases(): Promise<void> {
  const stack = await startPurchasesStack({ wallets: WALLETS });
  try {
    await stack.serve(stack.rpcUrl);
    const agents = await openAgents(stack.apiUrl, stack.adminToken, addressesOf(stack), CONNECTIONS);
    const throughput = await measureThroughput(stack, agents);
    await agents.close();
    const about = `${ROUNDS} rounds, ${CONNECTIONS} connections, ${WALLETS} relayer wallets, ${cpus().length} cores`;
    report(`purchases: ${about}`, throughput);
    report("purchases: what is asked of the node", await measureCalls(stack));
  } finally {
    await stack.stop();
  }
}
