import type { Sql } from "postgres";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { SET_ASIDE_AFTER } from "../../lib/ledger/keeper-tasks.ts";
import { type KeeperPurpose, keeperPurposes } from "../../lib/ledger/kinds.ts";
import { valueWithin } from "../../lib/timeout.ts";
import type { Batch } from "../keeper/batches.ts";
import type { MinedBatch } from "../keeper/watch.ts";
import type { Work } from "../keeper/work.ts";

/** Histogram buckets in seconds: from the next block of an L2 up to a transaction that waits while fees rise. */
const BUCKETS = [0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900];
/** Timeout of the database, in ms. A scrape has a time limit too, so its response omits a slower answer. */
const SOURCE_MS = 2000;

/** What became of a piece of the keeper's work. */
const outcomes = ["begun", "done_by_others", "failed"] as const;

/** Measures the keeper as it works. */
export function createKeeperMeter(registry: Registry) {
  const registers = [registry];
  const due = new Gauge({
    name: "keeper_due",
    help: "Work that was due when the keeper last looked, by purpose; of expired policies the next hundred",
    labelNames: ["purpose"],
    registers,
  });
  const canSend = new Gauge({
    name: "keeper_can_send",
    help: "Whether the keeper's wallet could send when it was last checked, 1 or 0",
    registers,
  });
  const work = new Counter({
    name: "keeper_work_total",
    help: "The keeper's work: put into a transaction, done by somebody else, or failed",
    labelNames: ["purpose", "outcome"],
    registers,
  });
  const mined = new Histogram({
    name: "keeper_begun_to_mined_seconds",
    help: "Time of the keeper's transactions from their record, soon after they became due, to their block",
    labelNames: ["purpose"],
    buckets: BUCKETS,
    registers,
  });
  const count = (purpose: KeeperPurpose, outcome: (typeof outcomes)[number], by = 1) =>
    work.inc({ purpose, outcome }, by);
  // Export zeros from the start, because a rate needs a first value.
  for (const purpose of keeperPurposes) for (const outcome of outcomes) count(purpose, outcome, 0);
  return {
    due(found: readonly Work[]): void {
      for (const purpose of keeperPurposes)
        due.set({ purpose }, found.filter((one) => one.purpose === purpose).length);
    },
    canSend: (can: boolean): void => canSend.set(can ? 1 : 0),
    begun: ({ purpose, work: begun }: Batch): void => count(purpose, "begun", begun.length),
    mined: ({ purpose, seconds }: MinedBatch): void => mined.observe({ purpose }, seconds),
    doneByOthers: ({ purpose }: Work): void => count(purpose, "done_by_others"),
    failed: ({ purpose }: Work): void => count(purpose, "failed"),
  };
}

export type KeeperMeter = ReturnType<typeof createKeeperMeter>;

type Figures = {
  setAside: number;
  seenAgo: number | null;
  missed: string | null;
  missedWhileDown: string | null;
  refused: string | null;
  neverPayable: Record<string, number> | null;
};

/** Gauges that each scrape reads from the keeper's tables; without samples while the database is away. */
export function createKeeperGauges(registry: Registry, sql: Sql, chainId: number): () => Promise<void> {
  const registers = [registry];
  const setAside = new Gauge({
    name: "keeper_set_aside",
    help: "Work that has failed again and again, and is tried more and more seldom",
    registers,
  });
  const seenAgo = new Gauge({
    name: "keeper_last_look_seconds",
    help: "Time since a keeper of the chain that could send last looked for work",
    registers,
  });
  const audited = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `keeper_${name}_total`, help, labelNames, registers });
  const missed = audited(
    "missed",
    "Policies that could have been triggered and were not, by the running audit",
  );
  const missedWhileDown = audited(
    "missed_while_down",
    "Missed policies that were payable only while no keeper was at work",
  );
  const refused = audited(
    "audit_refused",
    "Policies that were payable by the audit's reasoning, and refused by the contracts",
  );
  const neverPayable = audited(
    "never_payable",
    "Policies that met the price, and that no block could have paid",
    ["reason"],
  );
  const read = async (): Promise<Figures | undefined> => {
    const [row] = await sql<Figures[]>`
      select (select count(*)::int from service.keeper_task
          where chain_id = ${chainId} and failures >= ${SET_ASIDE_AFTER} and service_transaction_id is null) as "setAside",
        (select extract(epoch from now() - max(seen_at))::float8 from service.keeper_watch
          where chain_id = ${chainId}) as "seenAgo",
        a.missed, a.missed_while_down as "missedWhileDown", a.refused, a.never_payable as "neverPayable"
      from (select ${chainId}::integer as chain_id) c left join service.keeper_audit a using (chain_id)`;
    return row;
  };
  return async () => {
    for (const gauge of [setAside, seenAgo]) gauge.remove();
    for (const counter of [missed, missedWhileDown, refused]) counter.remove();
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
    refused.inc(Number(figures.refused));
    for (const [reason, count] of Object.entries(figures.neverPayable ?? {}))
      neverPayable.inc({ reason }, count);
  };
}
