/** Each process is killed (SIGKILL) under load, and in the end the primary, whose standby is promoted. */
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BenchStack } from "./bench-stack.ts";
import { CONNECTIONS } from "./measure-purchases.ts";
import { openAgents } from "./purchase-load.ts";
import type { PurchasesStack } from "./purchases-stack.ts";
import type { Finding } from "./report.ts";
import { startBuyers, startReaders } from "./scale-clients.ts";
import { type Load, measureFault, medianAnswer, untilMinedAnew } from "./scale-measure-fault.ts";
import { watchSales } from "./scale-sales.ts";
import { type Instances, startReplicas, stopAll, untilIndexed, untilStandbyUsed } from "./scale-services.ts";
import { type BenchStandby, kill9, replicateSynchronously } from "./scale-standby.ts";
import type { Shop } from "./scale-throughput.ts";

/** A load that two cores bear beside the start of a process. */
export const PURCHASES_PER_SECOND = 20;
export const READS_PER_SECOND = 20;
const BOTH = { apis: 2, writers: 2 } as const;
/** Begins each idempotency key. */
const NAME = "fault";
/** Purchases that are compared before and after commits wait for the standby. */
const COMPARED = 5 * PURCHASES_PER_SECOND;

type Cluster = {
  readonly bench: BenchStack;
  readonly stack: PurchasesStack;
  readonly standby: BenchStandby;
  readonly indexer: ServiceStack;
  readonly instances: Instances;
  readonly load: Load;
};

const pidOf = ({ bench }: Cluster, name: string): number => {
  const pid = bench.processes.get(name);
  if (pid === undefined) throw new Error(`${name} does not run`);
  return pid;
};

/** The instance that has a writer with a wallet's lease. */
async function ownerOf(cluster: Cluster): Promise<ServiceStack> {
  const rows = await cluster.stack.sql<{ pid: string }[]>`
    select distinct split_part(lease_owner, '-', -2) as pid from service.relayer_wallet where lease_until > now()`;
  const owner = cluster.instances.find((_, index) =>
    rows.some(({ pid }) => Number(pid) === pidOf(cluster, `writer ${index + 1}`)),
  );
  if (!owner) throw new Error("no writer has a wallet");
  return owner;
}

/** Kills one process of each kind after another. The other api and the other writer go on; each is started again. */
async function killEach(cluster: Cluster): Promise<Finding[]> {
  const { instances, indexer, standby, load } = cluster;
  const [first] = instances;
  const findings: Finding[] = [];
  findings.push(
    ...(await measureFault(load, "api 1", {
      kill: () => first.kill9("api"),
      restore: () => first.start("api"),
    })),
  );
  await untilStandbyUsed(instances);
  const owner = await ownerOf(cluster);
  findings.push(
    ...(await measureFault(load, "the writer that has the wallets", {
      kill: () => owner.kill9("writer"),
      restore: () => owner.start("writer"),
    })),
  );
  await untilMinedAnew(load);
  findings.push(
    ...(await measureFault(load, "indexer, started again at once", {
      async kill() {
        await indexer.kill9("indexer");
        await indexer.start("indexer");
      },
    })),
  );
  await untilStandbyUsed(instances);
  findings.push(...(await measureFault(load, "standby", { kill: standby.kill9, restore: standby.start })));
  const began = performance.now();
  await untilStandbyUsed(instances);
  findings.push({
    what: "  read from again after its start",
    value: (performance.now() - began) / 1000,
    unit: "s",
  });
  return findings;
}

/** The median answer once some purchases more were answered, in ms. */
async function answerOfNext({ load }: Cluster): Promise<number> {
  const since = performance.now();
  await waitFor({
    what: "purchases to be answered",
    probe: () =>
      load.buyers.sales.filter((sale) => sale.sentAt >= since && sale.answeredAt !== undefined).length >=
        COMPARED || undefined,
  });
  return medianAnswer(load, since);
}

/**
 * Kills the primary, while each of its commits waits for the standby, promotes the standby, and restarts all processes on it, as
 * `docs/operating.md` tells. @returns what it found; `missing` purchases were answered before and are not there afterwards.
 */
async function promote(cluster: Cluster): Promise<{ findings: Finding[]; missing: number }> {
  const { bench, stack, standby, indexer, instances, load } = cluster;
  const without = await answerOfNext(cluster);
  await replicateSynchronously(bench.sql);
  const together = await answerOfNext(cluster);
  let [answered, missing, promotedMs]: [number, number, number] = [0, 0, 0];
  const found = await measureFault(load, "primary, standby promoted, all restarted", {
    async kill() {
      await kill9(pidOf(cluster, "postgres"));
      const before = load.buyers.sales.filter((sale) => sale.answeredAt !== undefined);
      const began = performance.now();
      await standby.promote();
      promotedMs = performance.now() - began;
      const rows = await standby.sql<{ key: string }[]>`
        select idempotency_key as key from service.purchase where idempotency_key like ${`${NAME}-%`}`;
      const kept = new Set(rows.map(({ key }) => key));
      answered = before.length;
      missing = before.filter(({ key }) => !kept.has(key)).length;
      await Promise.all([stopAll(instances), indexer.stop()]);
      await Promise.all([
        startReplicas(stack, BOTH, {
          wallets: "shared",
          databaseUrl: standby.url,
          successorsOf: instances,
        }),
        bench.startServices(["indexer"], { databaseUrl: standby.url }),
      ]);
    },
  });
  return {
    findings: [
      { what: "answer 202, median, without waiting for the standby", value: without, unit: "ms" },
      {
        what: "answer 202, median, commits wait for the standby",
        value: together,
        unit: "ms",
        compared: { with: without },
      },
      ...found,
      { what: "  of that, the promotion itself", value: promotedMs / 1000, unit: "s" },
      { what: "  purchases answered before", value: answered, unit: "" },
      { what: "  of those, missing on the new primary", value: missing, unit: "" },
    ],
    missing,
  };
}

export type Faults = {
  readonly findings: Finding[];
  readonly promotion: Finding[];
  /** Purchases that were answered and that the new primary lacks. */
  readonly missing: number;
  readonly refusals: readonly string[];
};

/** The indexer runs on the primary, and the standby is a copy of it that does not run. In the end the standby is the primary. */
export async function measureFaults(
  bench: BenchStack,
  stack: PurchasesStack,
  { shop, standby, indexer }: { shop: Shop; standby: BenchStandby; indexer: ServiceStack },
): Promise<Faults> {
  await standby.start();
  const instances = await startReplicas(stack, BOTH, { wallets: "shared", readUrl: standby.url });
  await untilIndexed(stack);
  await untilStandbyUsed(instances);
  const apiUrls = instances.map(({ apiUrl }) => apiUrl);
  const agents = openAgents(apiUrls, shop.keys, CONNECTIONS);
  const watch = await watchSales(bench.protocol);
  const buyers = startBuyers(agents, shop.sales, NAME, PURCHASES_PER_SECOND);
  const readers = startReaders(apiUrls, READS_PER_SECOND);
  const load: Load = { buyers, readers, watch };
  const cluster: Cluster = { bench, stack, standby, indexer, instances, load };
  try {
    await untilMinedAnew(load);
    const findings = await killEach(cluster);
    const { findings: promotion, missing } = await promote(cluster);
    return { findings, promotion, missing, refusals: buyers.refusals };
  } finally {
    await buyers.stop();
    await Promise.all([readers.stop(), watch.stop()]);
    await agents.close();
  }
}
