/** Purchases a second and their CPU with one and two apis and writers, with transactions sent to the chain directly in turn. */
import { CONNECTIONS, inTurn, measureRaw, measureService } from "./measure-purchases.ts";
import { cpuDuring, cpuPerUnit } from "./process-usage.ts";
import { type BuyerKey, buyAtFullLoad, openAgents } from "./purchase-load.ts";
import { type PurchasesStack, untilFinal } from "./purchases-stack.ts";
import { type Finding, median, percentile } from "./report.ts";
import type { Sales } from "./scale-sales.ts";
import { type Replicas, startReplicas, stopAll } from "./scale-services.ts";

export const ROUNDS = 3;
const PURCHASES = 1000;

const configurations: readonly Replicas[] = [
  { apis: 1, writers: 1 },
  { apis: 2, writers: 1 },
  { apis: 1, writers: 2 },
  { apis: 2, writers: 2 },
];

const plural = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
const nameOf = ({ apis, writers }: Replicas) => `${plural(apis, "api")}, ${plural(writers, "writer")}`;

/** With what the whole run buys. */
export type Shop = { readonly keys: readonly BuyerKey[]; readonly sales: Sales };

type Round = {
  readonly perSecond: number;
  /** The 99th percentile of the answers 202, in ms. */
  readonly p99: number;
  readonly cpu: ReadonlyMap<string, number>;
};

/** Starts the processes, warms them up, and buys at full load. Two writers have a wallet each, one has both. */
async function measureRound(
  stack: PurchasesStack,
  { keys, sales }: Shop,
  replicas: Replicas,
  name: string,
): Promise<Round> {
  const instances = await startReplicas(stack, replicas, { wallets: "own" });
  const apiUrls = instances.slice(0, replicas.apis).map(({ apiUrl }) => apiUrl);
  const agents = openAgents(apiUrls, keys, CONNECTIONS);
  const buy = (what: string, count: number) =>
    measureService(stack, count, () =>
      buyAtFullLoad(agents, `${name}-${what}`, { ...inTurn(count), coverageFrom: sales.take(count) }),
    );
  await buy("warm", CONNECTIONS);
  await untilFinal(stack);
  let perSecond = 0;
  let p99 = 0;
  const cpu = await cpuDuring(stack.processes, async () => {
    const measured = await buy("full", PURCHASES);
    perSecond = measured.perSecond;
    p99 = percentile(
      measured.answers.map(({ ms }) => ms),
      99,
    );
    await untilFinal(stack);
  });
  await agents.close();
  await stopAll(instances);
  return { perSecond, p99, cpu };
}

/** Measures all configurations in each round, because the machine is not equally fast all the time. */
export async function measureScale(
  stack: PurchasesStack,
  shop: Shop,
): Promise<{ throughput: Finding[]; cpu: Finding[] }> {
  const raw: number[] = [];
  const measured = configurations.map((replicas) => ({ replicas, rounds: [] as Round[] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    raw.push(await measureRaw(stack, PURCHASES));
    // Backwards every other time, so that none always comes first.
    for (const { replicas, rounds } of round % 2 === 0 ? measured : measured.toReversed())
      rounds.push(await measureRound(stack, shop, replicas, `${nameOf(replicas)} ${round}`));
  }
  const chain = median(raw);
  const results = measured.map(({ replicas, rounds }) => ({
    name: nameOf(replicas),
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p99: median(rounds.map(({ p99 }) => p99)),
    cpu: cpuPerUnit(
      nameOf(replicas),
      rounds.map(({ cpu }) => cpu),
      PURCHASES,
    ),
  }));
  const [first] = results;
  const firstCpu = first?.cpu[0]?.value ?? Number.NaN;
  const throughput: Finding[] = results.flatMap(({ name, perSecond, p99 }) => [
    { what: name, value: perSecond, unit: "/s", compared: { with: first?.perSecond ?? Number.NaN } },
    { what: "  of what the chain takes", value: (100 * perSecond) / chain, unit: "%" },
    { what: "  answer 202, 99th percentile", value: p99, unit: "ms" },
  ]);
  return {
    throughput: [
      { what: "signed transactions sent to the chain directly", value: chain, unit: "/s" },
      ...throughput,
    ],
    cpu: results.flatMap(({ cpu: [total, ...each] }) =>
      total ? [{ ...total, compared: { with: firstCpu } }, ...each] : [],
    ),
  };
}
