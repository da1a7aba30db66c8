import type { Sql } from "postgres";
import type { Registry } from "prom-client";
import { openCounter, openGauge, openHistogram } from "../../lib/metrics/description.ts";
import { keeperMetrics } from "../../lib/metrics/keeper-metrics.ts";
import { valueWithin } from "../../lib/timeout.ts";
import type { Batch } from "../keeper/batches.ts";
import { SET_ASIDE_AFTER } from "../keeper/startable-tasks.ts";
import { type KeeperPurpose, keeperPurposes, type Task } from "../keeper/task.ts";

/** Timeout of the database, in ms. A scrape has a time limit too, so its response omits a slower answer. */
const SOURCE_MS = 2000;

/** The outcomes of the keeper's tasks. */
const outcomes = ["begun", "done_by_others", "failed"] as const;

/** Measures the keeper as it works. */
export function createKeeperMeter(registry: Registry) {
  const due = openGauge(registry, keeperMetrics.due);
  const canSend = openGauge(registry, keeperMetrics.canSend);
  const work = openCounter(registry, keeperMetrics.work);
  const dueToMined = openHistogram(registry, keeperMetrics.dueToMinedSeconds);
  const count = (purpose: KeeperPurpose, outcome: (typeof outcomes)[number], by = 1) =>
    work.inc({ purpose, outcome }, by);
  // Export zeros from the start, because a rate needs a first value.
  for (const purpose of keeperPurposes) for (const outcome of outcomes) count(purpose, outcome, 0);
  return {
    due(tasks: readonly Task[]): void {
      for (const purpose of keeperPurposes)
        due.set({ purpose }, tasks.filter((one) => one.purpose === purpose).length);
    },
    canSend: (can: boolean): void => canSend.set(can ? 1 : 0),
    begun: ({ purpose, tasks }: Batch): void => count(purpose, "begun", tasks.length),
    /** An observation was mined so many seconds after it was possible. */
    dueToMined: (seconds: number): void => dueToMined.observe(seconds),
    doneByOthers: ({ purpose }: Task): void => count(purpose, "done_by_others"),
    failed: ({ purpose }: Task): void => count(purpose, "failed"),
  };
}

export type KeeperMeter = ReturnType<typeof createKeeperMeter>;

type Figures = {
  setAside: number;
  seenAgo: number | null;
  missed: string | null;
  missedWhileDown: string | null;
  missedContracts: string | null;
  refused: string | null;
  neverPayable: Record<string, number> | null;
};

/** Gauges that each scrape reads from the keeper's tables; without samples while the database is away. */
export function createKeeperGauges(registry: Registry, sql: Sql, chainId: number): () => Promise<void> {
  const setAside = openGauge(registry, keeperMetrics.setAside);
  const seenAgo = openGauge(registry, keeperMetrics.lastLook);
  const missed = openCounter(registry, keeperMetrics.missed);
  const missedWhileDown = openCounter(registry, keeperMetrics.missedWhileDown);
  const missedContracts = openCounter(registry, keeperMetrics.missedContracts);
  const refused = openCounter(registry, keeperMetrics.auditRefused);
  const neverPayable = openCounter(registry, keeperMetrics.neverPayable);
  const read = async (): Promise<Figures | undefined> => {
    const [row] = await sql<Figures[]>`
      select (select count(*)::int from service.keeper_task
          where chain_id = ${chainId} and failures >= ${SET_ASIDE_AFTER} and service_transaction_id is null) as "setAside",
        (select extract(epoch from now() - max(seen_at))::float8 from service.keeper_watch
          where chain_id = ${chainId}) as "seenAgo",
        a.missed, a.missed_while_down as "missedWhileDown", a.missed_contracts as "missedContracts", a.refused, a.never_payable as "neverPayable"
      from (select ${chainId}::integer as chain_id) c left join service.keeper_audit a using (chain_id)`;
    return row;
  };
  return async () => {
    for (const gauge of [setAside, seenAgo]) gauge.remove();
    for (const counter of [missed, missedWhileDown, missedContracts, refused]) counter.remove();
    neverPayable.reset();
    const figures = await valueWithin(
      SOURCE_MS,
      read().catch(() => undefined),
    );
    if (!figures) return;
    setAside.set(figures.setAside);
    if (figures.seenAgo !== null) seenAgo.set(figures.seenAgo);
    // The counts are the database's, over all writers and restarts.
    missed.inc(Number(figures.missed));
    missedWhileDown.inc(Number(figures.missedWhileDown));
    missedContracts.inc(Number(figures.missedContracts));
    refused.inc(Number(figures.refused));
    for (const [reason, count] of Object.entries(figures.neverPayable ?? {}))
      neverPayable.inc({ reason }, count);
  };
}
