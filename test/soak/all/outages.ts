/** When the victims were dead, and how long it took until the service did again what it could not do without them. */
import { waitFor } from "../../../scripts/local/wait.ts";
import type { Victim } from "./plan-kills.ts";

/** Something that worked: a read of the index, or a purchase with its receipt. */
export type Success = {
  readonly what: "read" | "purchase";
  /** The time at which the request was sent, ms since the epoch. */
  readonly begun: number;
  /** The block that the answer describes, or that of the purchase. */
  readonly block: bigint;
};

type Outage = {
  readonly victim: Victim;
  readonly from: number;
  /** The newest block of all answers before the kill. */
  readonly block: bigint;
  startedAt?: number;
  until?: number;
};

export type Outages = {
  /** Call it before the kill. */
  readonly begin: (victim: Victim) => {
    /** Call it once the victim has been started again. Waits until the service has recovered. */
    readonly over: () => Promise<void>;
  };
  readonly note: (success: Success) => void;
  /** Whether one of the victims was dead at some time since then, or what needs it had not recovered. */
  readonly hadOneSince: (time: number, victim?: Victim) => boolean;
  /** Ms until the next success, by victim. */
  readonly durations: () => ReadonlyMap<Victim, readonly number[]>;
};

const RECOVERY_MS = 240_000;

/** Whether this success needs the victim, and cannot come from before its kill. */
function endsWith({ victim, startedAt, block }: Outage, success: Success): boolean {
  if (startedAt === undefined || success.begun < startedAt) return false;
  const isNewer = success.block > block;
  if (victim === "writer") return success.what === "purchase" && isNewer;
  if (victim === "indexer") return success.what === "read" && isNewer;
  return victim === "node" ? isNewer : true;
}

export function createOutages(): Outages {
  const outages: Outage[] = [];
  let newest = -1n;
  return {
    begin(victim) {
      const outage: Outage = { victim, from: Date.now(), block: newest };
      outages.push(outage);
      return {
        async over() {
          outage.startedAt = Date.now();
          await waitFor({
            what: `the service to recover from the kill of the ${victim}`,
            probe: () => outage.until,
            timeoutMs: RECOVERY_MS,
          });
        },
      };
    },
    note(success) {
      if (success.block > newest) newest = success.block;
      for (const outage of outages) {
        if (outage.until === undefined && endsWith(outage, success)) outage.until = Date.now();
      }
    },
    hadOneSince: (time, victim) =>
      outages.some(
        (outage) =>
          (victim === undefined || outage.victim === victim) &&
          (outage.until === undefined || outage.until >= time),
      ),
    durations() {
      const all = new Map<Victim, number[]>();
      for (const { victim, from, until } of outages) {
        if (until !== undefined) all.set(victim, [...(all.get(victim) ?? []), until - from]);
      }
      return all;
    },
  };
}
