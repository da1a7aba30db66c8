import { Counter, Gauge, type Registry } from "prom-client";
import type { Batch } from "../keeper/batches.ts";
import { type KeeperPurpose, keeperPurposes, type Work } from "../keeper/work.ts";

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
    doneByOthers: ({ purpose }: Work): void => count(purpose, "done_by_others"),
    failed: ({ purpose }: Work): void => count(purpose, "failed"),
  };
}

export type KeeperMeter = ReturnType<typeof createKeeperMeter>;
