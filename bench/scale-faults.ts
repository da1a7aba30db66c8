/** Kills each process (SIGKILL) under load, and the primary last. Then the standby is promoted. */
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import type { BenchStack } from "./bench-stack.ts";
import { CONNECTIONS } from "./measure-purchases.ts";
import { openAgents } from "./purchase-load.ts";
import type { PurchasesStack } from "./purchases-stack.ts";
import type { Finding } from "./report.ts";
import { startBuyers, startReaders } from "./scale-clients.ts";
import { BOTH, type Cluster, ownerOf, settle } from "./scale-cluster.ts";
import { type Load, measureFault } from "./scale-measure-fault.ts";
import { measurePromotion } from "./scale-promotion.ts";
import { watchSales } from "./scale-sales.ts";
import { startReplicas, untilIndexed, untilStandbyUsed } from "./scale-services.ts";
import type { BenchStandby } from "./scale-standby.ts";
import type { Shop } from "./scale-throughput.ts";

/** A load that two cores bear beside the start of a process. */
export const PURCHASES_PER_SECOND = 20;
export const READS_PER_SECOND = 20;

/** Kills one process of each kind after another, and starts it again. The other api and the other writer go on. */
async function killEach(cluster: Cluster): Promise<Finding[]> {
  const { instances, indexer, standby, load } = cluster;
  const [first] = instances;
  await settle(cluster);
  const api = await measureFault(load, "an api", {
    kill: () => first.kill9("api"),
    restore: () => first.start("api"),
  });
  await settle(cluster);
  const owner = await ownerOf(cluster);
  const writer = await measureFault(load, "the writer that has the wallets", {
    kill: () => owner.kill9("writer"),
    restore: () => owner.start("writer"),
  });
  await settle(cluster);
  const index = await measureFault(load, "indexer, started again at once", {
    async kill() {
      await indexer.kill9("indexer");
      await indexer.start("indexer");
    },
  });
  await settle(cluster);
  const reads = await measureFault(load, "standby", { kill: standby.kill9, restore: standby.start });
  const began = performance.now();
  await untilStandbyUsed(instances);
  const again = (performance.now() - began) / 1000;
  return [
    ...api,
    ...writer,
    ...index,
    ...reads,
    { what: "  read from again after its start", value: again, unit: "s" },
  ];
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
  const buyers = startBuyers(agents, shop.sales, "fault", PURCHASES_PER_SECOND);
  const readers = startReaders(apiUrls, READS_PER_SECOND);
  const load: Load = { buyers, readers, watch };
  const cluster: Cluster = { bench, stack, standby, indexer, instances, load };
  try {
    const findings = await killEach(cluster);
    const { findings: promotion, missing } = await measurePromotion(cluster);
    return { findings, promotion, missing, refusals: buyers.refusals };
  } finally {
    await buyers.stop();
    await Promise.all([readers.stop(), watch.stop()]);
    await agents.close();
  }
}
