/**
 * Purchases end to end: first what each costs; then at 10 and at 50 a second with a block every two seconds, and at full load with a
 * block a second, in turn with as many signed `purchasePolicyFor` transactions sent to the node directly. No indexer runs then.
 */
import { encodeFunctionData, type Hex, type LocalAccount } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { privateKeyOf } from "../scripts/local/anvil.ts";
import {
  type Buy,
  buyAtFullLoad,
  buyAtRate,
  createBuyers,
  openBuyers,
  PRODUCT,
  unlimited,
} from "./buyers.ts";
import { cpuDuring } from "./process-usage.ts";
import { benchPurchaseCost, untilFinal } from "./purchase-cost.ts";
import { minedOf, type Node, openNode, sendAndMine, signCalls, untilMined } from "./raw-transactions.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { atEnd, type BenchStack, withBenchStack } from "./stack.ts";

const WALLETS = 2;
const CONNECTIONS = 200;
const RATES = [10, 50];
const RATE_SECONDS = 60;
const ACCEPTED_P99_MS = 250;
const MINED_MEDIAN_MS = 1400;
const MINED_P99_MS = 2500;

const ROUNDS = 3;
const PURCHASES = 2000;
const LOAD_CONNECTIONS = 100;
const OF_RAW = 0.25;
const OF_ANVILS_CPU = 3;
/** More than a purchase uses, by the same margin as the service's. */
const RAW_GAS = 700_000n;
const MINED_WITHIN_MS = 120_000;

type Stack = BenchStack & { readonly node: Node; readonly buyers: readonly LocalAccount[] };

/** Signs purchases of other wallets in turn, so that the nonces of each arrive in order, and sends them. @returns how many a second */
async function measureRaw({ node, chain: { deployment }, buyers, ...stack }: Stack): Promise<number> {
  const product = entryByName(PRODUCT);
  if (!product) throw new Error(`the catalogue lacks ${PRODUCT}`);
  const rivals = stack.relayers.slice(WALLETS);
  const signed = await Promise.all(
    rivals.map((rival) => {
      const calls = Array.from({ length: PURCHASES / rivals.length }, (_, n) => ({
        to: deployment.contracts.coverRouter,
        gas: RAW_GAS,
        data: encodeFunctionData({
          abi: coverRouterAbi,
          functionName: "purchasePolicyFor",
          args: [
            product.productId,
            MINIMUM_COVERAGE,
            product.asset,
            buyers[n % buyers.length]?.address ?? "0x",
          ],
        }),
      }));
      return signCalls(node, rival, deployment.chainId, calls);
    }),
  );
  const inTurn: Hex[] = Array.from({ length: PURCHASES }, (_, n) => {
    return signed[n % rivals.length]?.[Math.floor(n / rivals.length)] ?? "0x";
  });
  const wallets = rivals.map(({ address }) => address);
  return PURCHASES / (await sendAndMine(node, wallets, inTurn));
}

/** Buys at full load until all is mined. @returns how many a second */
async function measureLoad({ node, relayers }: Stack, buy: Buy, first: number): Promise<number> {
  const wallets = relayers.slice(0, WALLETS).map(({ address }) => address);
  const goal = (await minedOf(node, wallets)) + PURCHASES;
  const began = performance.now();
  await Promise.all([
    buyAtFullLoad(buy, first, PURCHASES, LOAD_CONNECTIONS),
    untilMined(node, wallets, goal, MINED_WITHIN_MS),
  ]);
  return (PURCHASES * 1000) / (performance.now() - began);
}

async function measureRates(stack: Stack, buy: Buy, first: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  let n = first;
  await stack.node.ask("evm_setIntervalMining", [2]);
  for (const rate of RATES) {
    const answers = await buyAtRate(buy, n, rate * RATE_SECONDS, rate);
    n += answers.length;
    const times = (of: number) => answers.flatMap(({ status, ms }) => (status === of ? [ms] : []));
    findings.push(
      { what: `${rate} a second: 202, median`, value: median(times(202)), unit: "ms" },
      {
        what: `${rate} a second: 202, 99th percentile`,
        value: percentile(times(202), 99),
        unit: "ms",
        atMost: ACCEPTED_P99_MS,
      },
      {
        what: `${rate} a second: 201, median`,
        value: median(times(201)),
        unit: "ms",
        atMost: MINED_MEDIAN_MS,
      },
      {
        what: `${rate} a second: 201, 99th percentile`,
        value: percentile(times(201), 99),
        unit: "ms",
        atMost: MINED_P99_MS,
      },
    );
    await untilFinal(stack);
  }
  return findings;
}

async function measureFullLoad(stack: Stack, buy: Buy, first: number): Promise<Finding[]> {
  await stack.node.ask("evm_setIntervalMining", [1]);
  const [raw, ours, shares]: [number[], number[], number[]] = [[], [], []];
  const processes = [...stack.processes];
  const used = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round += 1) {
    raw.push(await measureRaw(stack));
    const cpu = await cpuDuring(processes, async () => {
      ours.push(await measureLoad(stack, buy, first + round * PURCHASES));
      await untilFinal(stack);
    });
    for (const [name, ms] of cpu) used.set(name, [...(used.get(name) ?? []), ms / PURCHASES]);
    const { anvil = 0, ...service } = Object.fromEntries(cpu);
    shares.push(Object.values(service).reduce((sum, ms) => sum + ms, 0) / anvil);
  }
  return [
    {
      what: "purchases, of signed transactions",
      value: median(ours) / median(raw),
      unit: "",
      atLeast: OF_RAW,
    },
    { what: "  purchases", value: median(ours), unit: "/s" },
    { what: "  signed transactions sent to the node directly", value: median(raw), unit: "/s" },
    {
      what: "CPU of api, writer and Postgres, of anvil's",
      value: median(shares),
      unit: "",
      atMost: OF_ANVILS_CPU,
    },
    ...[...used].map(([name, ms]) => ({
      what: `  ${name}, for each purchase`,
      value: median(ms),
      unit: "ms",
    })),
  ];
}

const benchLoad = (): Promise<void> =>
  withBenchStack({ relayers: 2 * WALLETS }, async (bench) => {
    const node = openNode(bench.chain.url, 100);
    await atEnd(node.close);
    await node.ask("evm_setIntervalMining", [1]);
    const buyers = await createBuyers(bench, node);
    const stack: Stack = { ...bench, node, buyers };
    const relayerKeys = bench.relayers.slice(0, WALLETS).map(privateKeyOf);
    const services = await bench.startServices(["writer", "api"], { relayerKeys, more: unlimited });
    const buy = await openBuyers(services, buyers, CONNECTIONS);
    await measureLoad(stack, buy, 0); // warms everything up
    await untilFinal(stack);
    const first = PURCHASES;
    report(
      `purchases: ${RATE_SECONDS} s at each rate, a block every 2 s`,
      await measureRates(stack, buy, first),
    );
    report(
      `purchases: medians of ${ROUNDS} rounds of ${PURCHASES}, ${LOAD_CONNECTIONS} connections, a block a second`,
      await measureFullLoad(stack, buy, first + RATE_SECONDS * RATES.reduce((sum, rate) => sum + rate, 0)),
    );
  });

export async function benchPurchases(): Promise<void> {
  await benchPurchaseCost();
  await benchLoad();
}
