import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { createBatcher } from "../../lib/batcher.ts";
import { isConnectionError } from "../../lib/db/connect.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { claim, handBack, release, rest, type TakenDelivery, type Turn, type Writer } from "./claim.ts";
import { type Settlement, settle } from "./settle.ts";

/** The statements of the turns, many turns to a statement: under load none has a round trip of its own. */

const CLAIM_ROUND = 100;
const ROUND = 300;
/** So long an outcome is kept for a database that is away, in ms; after it the event is sent once more. */
const SETTLE_MS = 60_000;
const SETTLE_PAUSE_MS = 300;

export type Books = {
  /** Undefined when there is nothing to do, or another writer does it. */
  claim(webhookId: string): Promise<Turn | undefined>;
  /** Never rejects: what cannot be written down is logged. */
  settle(settlement: Settlement): Promise<void>;
  handBack(deliveries: readonly TakenDelivery[]): Promise<void>;
  /** @returns in how many ms the subscription's next delivery is due; undefined when it waits for none. */
  release(webhookId: string): Promise<number | undefined>;
  /** Nobody, this writer neither, has a turn of the subscription before its lease lapses. */
  rest(webhookId: string): Promise<void>;
  /** From now on a database that is away is not waited for. */
  hurry(): void;
};

/**
 * What a statement was given, or a lock that it waited for, ended it: one of the round is at fault, and the others have no
 * such trouble.
 */
const isOfOne = (error: unknown): boolean =>
  !isConnectionError(error) || (error instanceof Error && "code" in error && error.code === "55P03");

/** Rounds of items; when one of them makes its round fail, each goes on `alone`. */
function createRounds<Item, Result>(
  run: (items: Item[]) => Promise<Result>,
  alone: (items: Item[]) => Promise<Result>,
  max: number,
) {
  const rounds = createBatcher(run, max);
  return async (item: Item): Promise<Result> => {
    try {
      return await rounds(item);
    } catch (error) {
      if (!isOfOne(error)) throw error;
      return alone([item]);
    }
  };
}

/**
 * @param sql commits are on the disk before they are done: a delivery counts as taken before it is sent.
 * @param notes for what a crash of the server may forget, because the event is then sent once more. On neither of the two
 * is a lock waited for long, because a round keeps the next ones waiting.
 * @param patient for whoever made a round fail: a lock is waited for there.
 */
export function createBooks({
  sql,
  notes,
  patient,
  writer,
  log,
}: {
  sql: Sql;
  notes: Sql;
  patient: Sql;
  writer: Writer;
  log: Logger;
}): Books {
  const claimOn = (on: Sql) => (ids: string[]) => claim(on, writer, ids);
  const settleOn = (on: Sql) => (round: Settlement[]) => settle(on, round);
  const handBackOn = (on: Sql) => (round: (readonly TakenDelivery[])[]) => handBack(on, round.flat());
  const releaseOn = (on: Sql) => (ids: string[]) => release(on, writer, ids);
  const claims = createRounds(claimOn(sql), claimOn(patient), CLAIM_ROUND);
  const settles = createRounds(settleOn(notes), settleOn(patient), ROUND);
  const handBacks = createRounds(handBackOn(notes), handBackOn(patient), ROUND);
  const releases = createRounds(releaseOn(notes), releaseOn(patient), ROUND);
  let hurried = false;

  return {
    claim: async (webhookId) => (await claims(webhookId)).get(webhookId),
    handBack: async (deliveries) => {
      if (deliveries.length > 0) await handBacks(deliveries);
    },
    release: async (webhookId) => (await releases(webhookId)).get(webhookId),
    rest: (webhookId) => rest(patient, writer, webhookId),
    async settle(settlement) {
      const began = performance.now();
      for (;;) {
        try {
          await settles(settlement);
          return;
        } catch (error) {
          if (hurried || performance.now() - began > SETTLE_MS) {
            const { deliveryId } = settlement;
            log.error({ deliveryId, error: errorText(error) }, "an attempt could not be written down");
            return;
          }
          await sleep(SETTLE_PAUSE_MS);
        }
      }
    },
    hurry() {
      hurried = true;
    },
  };
}
