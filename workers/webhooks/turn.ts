import { createSecretKey, type KeyObject } from "node:crypto";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Sealer } from "../../lib/webhooks/secrets.ts";
import type { DeliveryMeter } from "../metrics/deliveries.ts";
import type { Books } from "./books.ts";
import { LEASE_SECONDS, type TakenDelivery, type Turn } from "./claim.ts";
import type { Lane, TurnEnd } from "./dispatcher.ts";
import type { Place } from "./places.ts";
import { ANSWER_MS, type Posted, type Poster } from "./post.ts";
import { retryDelay } from "./schedule.ts";
import type { Settlement } from "./settle.ts";
import { type SigningKey, signatureHeaders } from "./signature.ts";

/** A turn of one subscription: claim what is due, call the receiver for each event in its order, settle. */

/** No attempt begins so late that it could outlast the lease; the rest is for statements that take their time, in ms. */
const LAST_START_MS = LEASE_SECONDS * 1000 - ANSWER_MS - 2000;
/**
 * So long a turn's calls may take, in ms: then others get its place, and once the call at hand is over, what was not sent
 * waits behind them. A receiver that takes longer for one call is a laggard.
 */
const TURN_MS = 500;

export type TurnOptions = {
  books: Books;
  poster: Poster;
  secretsOf: SecretsOf;
  meter: DeliveryMeter;
  log: Logger;
  /** The subscription's next delivery is due in so many ms. */
  later: (webhookId: string, ms: number) => void;
  stopping: () => boolean;
};

type Secrets = { secret: SigningKey; previousSecret: SigningKey | undefined };
export type SecretsOf = (turn: Pick<Turn, "wallet" | "secret" | "previousSecret">) => Secrets;

/** Secrets whose sealed forms were met of late are not opened again. */
export function createSecrets(sealer: Sealer, max = 5000): SecretsOf {
  const opened = new Map<string, KeyObject>();
  function open(sealed: string, wallet: string): KeyObject {
    // Of a wallet: what was sealed for one is no secret of another's.
    const key = `${wallet} ${sealed}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const secret = createSecretKey(Buffer.from(sealer.open(sealed, wallet), "utf8"));
    if (opened.size >= max) opened.clear();
    opened.set(key, secret);
    return secret;
  }
  return ({ wallet, secret, previousSecret }) => ({
    secret: open(secret, wallet),
    previousSecret: previousSecret === null ? undefined : open(previousSecret, wallet),
  });
}

/** What is sent for an event, signed now. */
export const outgoing = (
  url: string,
  { eventId, body }: Pick<TakenDelivery, "eventId" | "body">,
  secrets: Secrets,
) => ({
  url,
  body,
  headers: signatureHeaders({ ...secrets, body, eventId, timestamp: Math.floor(Date.now() / 1000) }),
});

function settlementOf(turn: Turn, delivery: TakenDelivery, { attempt, retryAfter }: Posted): Settlement {
  const { webhookId } = turn;
  const common = { webhookId, deliveryId: delivery.id, takenAt: delivery.takenAt, attempt };
  if (attempt.outcome === "delivered") return { ...common, kind: "delivered" };
  const retryIn = retryDelay(delivery.failures + 1, retryAfter);
  return retryIn === undefined ? { ...common, kind: "exhausted" } : { ...common, kind: "failed", retryIn };
}

/** @returns the function that makes a turn, for the dispatcher. It never rejects. */
export function createTurns(options: TurnOptions) {
  const { books, poster, secretsOf, meter, log, later, stopping } = options;

  /** A key that does not fit is the operator's fault: it costs no attempt, and the next turn waits for the lease to lapse. */
  async function openOrHandBack(turn: Turn): Promise<Secrets> {
    try {
      return secretsOf(turn);
    } catch (error) {
      await books.handBack(turn.deliveries);
      await books.rest(turn.webhookId);
      throw error;
    }
  }

  /** Calls for one delivery after the other, as long as the turn may last. `claimedAt`: when its lease began. */
  async function callAll(turn: Turn, claimedAt: number, lane: Lane, place: Place) {
    const secrets = await openOrHandBack(turn);
    const unsent = [...turn.deliveries];
    const settled: Promise<void>[] = [];
    const began = performance.now();
    const bell = setTimeout(place.stepAside, TURN_MS);
    let next = lane;
    while (!stopping()) {
      const now = performance.now();
      if (now - claimedAt > LAST_START_MS || now - began > TURN_MS) break;
      const delivery = unsent.shift();
      if (!delivery) break;
      const posted = await poster.post(outgoing(turn.url, delivery, secrets));
      // Given up by a stop: it may have arrived, so that it stays taken.
      if (!posted) break;
      const settlement = settlementOf(turn, delivery, posted);
      meter.attempted(posted.attempt);
      settled.push(books.settle(settlement));
      if (settlement.kind === "exhausted") {
        log.warn({ webhookId: turn.webhookId }, "a subscription is undeliverable");
        break;
      }
      next = settlement.kind !== "delivered" || posted.attempt.durationMs > TURN_MS ? "laggard" : "prompt";
      // Whoever changes its lane goes on there.
      if (next !== lane) break;
    }
    clearTimeout(bell);
    await Promise.all([books.handBack(unsent), ...settled]);
    return next;
  }

  return async function turn(webhookId: string, lane: Lane, place: Place): Promise<TurnEnd> {
    const began = performance.now();
    try {
      const claimed = await books.claim(webhookId);
      if (!claimed) return { lane, again: false };
      const next = await callAll(claimed, began, lane, place);
      const dueIn = await books.release(webhookId);
      if (dueIn === undefined) return { lane: "prompt", again: false };
      if (dueIn > 0) later(webhookId, dueIn);
      return { lane: next, again: dueIn === 0 };
    } catch (error) {
      // The lease lapses, and the sweeper of some writer finds what is left.
      log.warn({ webhookId, error: errorText(error) }, "a turn of deliveries failed");
      return { lane, again: false };
    }
  };
}
