/**
 * Each commit waits for the standby (`synchronous_standby_names`), so that it has whatever was answered. The standby is killed, and then
 * the primary, and the standby is promoted.
 */
import { waitFor } from "../scripts/local/wait.ts";
import type { Finding } from "./report.ts";
import { BOTH, type Cluster, pidOf, settle } from "./scale-cluster.ts";
import { measureFault, medianAnswer } from "./scale-measure-fault.ts";
import { startIndexer, startInstance } from "./scale-services.ts";
import { kill9, replicateSynchronously } from "./scale-standby.ts";

/** Purchases that are compared before and after commits wait for the standby. */
const COMPARED = 100;

/** The median answer to the next purchases, in ms. */
async function nextAnswers({ load }: Cluster): Promise<number> {
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
 * One instance after the other, so that the other api reads on. The indexer last: while it starts, the server has no block for an api
 * that still takes it for a standby.
 */
async function restartAll({ bench, stack, standby, indexer, instances }: Cluster): Promise<void> {
  for (const [index, successorOf] of instances.entries()) {
    await successorOf.stop();
    const options = { wallets: "shared", databaseUrl: standby.url, successorOf } as const;
    await startInstance(stack, BOTH, options, index);
  }
  await indexer.stop();
  await startIndexer(bench, { databaseUrl: standby.url });
}

export type Promotion = {
  readonly findings: Finding[];
  /** Purchases that were answered before and that the new primary lacks. */
  readonly missing: number;
};

/** Kills the primary, promotes the standby, and restarts all processes with its address, as `docs/operating.md` tells. */
async function promote(cluster: Cluster): Promise<Promotion> {
  const { standby, load } = cluster;
  let [answered, missing, promotedMs]: [number, number, number] = [0, 0, 0];
  const findings = await measureFault(load, "primary", {
    async kill() {
      await kill9(pidOf(cluster, "postgres"));
      const before = load.buyers.sales.filter((sale) => sale.answeredAt !== undefined);
      const began = performance.now();
      await standby.promote();
      promotedMs = performance.now() - began;
      const rows = await standby.sql<{ key: string }[]>`select idempotency_key as key from service.purchase`;
      const kept = new Set(rows.map(({ key }) => key));
      answered = before.length;
      missing = before.filter(({ key }) => !kept.has(key)).length;
      await restartAll(cluster);
    },
  });
  return {
    findings: [
      ...findings,
      { what: "  of that, pg_promote", value: promotedMs / 1000, unit: "s" },
      { what: "  purchases answered before", value: answered, unit: "" },
      { what: "  of those, missing on the new primary", value: missing, unit: "" },
    ],
    missing,
  };
}

/** In the end the standby is the primary, and all processes run on it. */
export async function measurePromotion(cluster: Cluster): Promise<Promotion> {
  const { bench, standby, load } = cluster;
  await settle(cluster);
  const alone = await nextAnswers(cluster);
  await replicateSynchronously(bench.sql);
  const together = await nextAnswers(cluster);
  const killed = await measureFault(load, "standby, started again at once", {
    async kill() {
      await standby.kill9();
      await standby.start();
    },
  });
  await replicateSynchronously(bench.sql);
  await settle(cluster);
  const { findings, missing } = await promote(cluster);
  return {
    findings: [
      { what: "answer 202, median, without waiting for the standby", value: alone, unit: "ms" },
      { what: "  commits wait for it", value: together, unit: "ms", compared: { with: alone } },
      ...killed,
      ...findings,
    ],
    missing,
  };
}
