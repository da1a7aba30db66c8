import { setTimeout as sleep } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";
import { createBatcher } from "../../lib/batcher.ts";
import { beginWith, isConnectionError } from "../../lib/db/connect.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import {
  type Batch,
  type ClaimedDelivery,
  claimDeliveries,
  leaveLease,
  releaseLeases,
  unclaimDeliveries,
  type Writer,
} from "./claim-deliveries.ts";
import {
  type LastFailure,
  makeUndeliverable,
  type OtherOutcome,
  type Settlement,
  settleDeliveries,
} from "./settle-deliveries.ts";

/**
 * Stores claims and outcomes of deliveries. Concurrent calls share statements, which saves round trips under load; each last failure
 * has a transaction of its own.
 */

/** Calls in one statement. */
const CLAIM_ROUND = 100;
const ROUND = 300;
/** How long an outcome is retried while the database is down, in ms. Then the event is sent again. */
const SETTLE_MS = 60_000;
const SETTLE_PAUSE_MS = 300;

export type DeliveryStore = {
  /** Undefined when nothing is due, or another writer has the lease. */
  claim(webhookId: string): Promise<Batch | undefined>;
  /** Never rejects: an outcome that cannot be stored is logged. */
  settle(settlement: Settlement): Promise<void>;
  /** Returns deliveries that were claimed and not sent. */
  unclaim(deliveries: readonly ClaimedDelivery[]): Promise<void>;
  /** Ends the lease. @returns ms until the subscription's next delivery is due; undefined when none is pending. */
  release(webhookId: string): Promise<number | undefined>;
  /** Keeps the subscription from every writer, this one included, until its lease expires, or for `ms`. */
  leaveLease(webhookId: string, ms?: number): Promise<void>;
  /** From now on outcomes are not retried. */
  stopRetrying(): void;
};

/** Postgres's error code for a lock timeout. */
const LOCK_NOT_AVAILABLE = "55P03";

/** Whether a single item of a statement caused the error: by its data, or by a lock on its row. */
const isOfOneItem = (error: unknown): boolean =>
  !isConnectionError(error) || sqlState(error) === LOCK_NOT_AVAILABLE;

/** Runs items of concurrent calls together; when one of them makes the statement fail, runs each alone. */
function batchStatements<Item, Result>(
  run: (items: Item[]) => Promise<Result>,
  runAlone: (items: Item[]) => Promise<Result>,
  max: number,
) {
  const runTogether = createBatcher(run, max);
  return async (item: Item): Promise<Result> => {
    try {
      return await runTogether(item);
    } catch (error) {
      if (!isOfOneItem(error)) throw error;
      return runAlone([item]);
    }
  };
}

/** Lock timeout of a statement for many subscriptions: a locked one must not delay the others. */
const quick = { lock_timeout: "250ms" };
/** For writes that a crash of the server may lose, because the event is then sent again. */
const quickAsync = { ...quick, synchronous_commit: "off" };

/**
 * A delivery is marked as taken, on the disk, before it is sent. `patient` runs statements for one subscription, which wait for
 * its locked rows after the statement for many has failed.
 */
export function createDeliveryStore(
  { sql, patient }: Record<"sql" | "patient", Sql>,
  writer: Writer,
  log: Logger,
): DeliveryStore {
  const batched = <Item, Result>(
    max: number,
    settings: Readonly<Record<string, string>>,
    run: (on: TransactionSql, items: Item[]) => Promise<Result>,
  ) =>
    batchStatements<Item, Result>(
      (items) => beginWith(sql, settings, (tx) => run(tx, items)),
      (items) => beginWith(patient, { lock_timeout: "0" }, (tx) => run(tx, items)),
      max,
    );
  const claim = batched(CLAIM_ROUND, quick, (on, ids: string[]) => claimDeliveries(on, writer, ids));
  const settleOthers = batched(ROUND, quickAsync, (on, outcomes: OtherOutcome[]) =>
    settleDeliveries(on, outcomes),
  );
  // Each in a transaction of its own: what a round has stored would be stored again if a later one of it failed.
  const settleLast = batched(1, quickAsync, async (on, failures: LastFailure[]) => {
    for (const one of failures) await makeUndeliverable(on, one);
  });
  const settle = (one: Settlement) => (one.kind === "exhausted" ? settleLast(one) : settleOthers(one));
  const unclaim = batched(ROUND, quickAsync, (on, lists: (readonly ClaimedDelivery[])[]) =>
    unclaimDeliveries(on, lists.flat()),
  );
  const release = batched(ROUND, quickAsync, (on, ids: string[]) => releaseLeases(on, writer, ids));
  let retrying = true;

  return {
    claim: async (webhookId) => (await claim(webhookId)).get(webhookId),
    unclaim: async (deliveries) => {
      if (deliveries.length > 0) await unclaim(deliveries);
    },
    release: async (webhookId) => (await release(webhookId)).get(webhookId),
    leaveLease: (webhookId, ms) => leaveLease(patient, writer, webhookId, ms),
    async settle(settlement) {
      const began = performance.now();
      for (;;) {
        try {
          await settle(settlement);
          return;
        } catch (error) {
          if (!retrying || performance.now() - began > SETTLE_MS) {
            const { deliveryId } = settlement;
            log.error({ deliveryId, err: errorText(error) }, "the outcome of an attempt could not be stored");
            return;
          }
          await sleep(SETTLE_PAUSE_MS);
        }
      }
    },
    stopRetrying() {
      retrying = false;
    },
  };
}
