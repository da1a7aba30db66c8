import type { Hex } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { noteSent, type Sent, type Signed, withheldHashes } from "../ledger/attempts.ts";
import type { ChainContext } from "./chain-context.ts";
import { type BroadcastResult, broadcastResultOf } from "./node-errors.ts";

/** Most hashes of one statement. */
const ROUND = 100;

export type SenderOptions = Pick<ChainContext, "sql" | "chain" | "meter" | "log">;

/**
 * Broadcasts stored transactions, unless the operator has stopped them or the database has lost them, and notes those that no node took, and repeated ones.
 * Sending the same bytes twice is harmless: after every doubt they are sent again, and no answer of a node fails a
 * purchase. Rejects, with nothing sent, when the database cannot be asked for the operator's stops.
 */
export function createSender({ sql, chain, meter, log }: SenderOptions) {
  const readWithheld = createBatcher((hashes: Hex[]) => withheldHashes(sql, hashes), ROUND);
  const note = createBatcher((sent: Sent[]) => noteSent(sql, sent), ROUND);

  return async function send(
    { hash, bytes }: Pick<Signed, "hash" | "bytes">,
    form: "again" | { stopped: boolean },
  ): Promise<void> {
    const again = form === "again";
    if (again ? (await readWithheld(hash)).has(hash) : form.stopped) {
      log.warn({ hash }, "not sent: the operator has stopped it, or the database has lost it");
      return;
    }
    const result = await chain
      .send(bytes)
      .then((): BroadcastResult => ({ kind: "accepted" }), broadcastResultOf);
    meter.answered(hash, result.kind);
    if (result.kind !== "accepted") {
      log.warn({ hash, answer: result.kind, reason: result.reason }, "a node did not accept a transaction");
    }
    const taken = result.kind === "accepted";
    if (again || !taken) await note({ hash, taken, again });
  };
}

/** `form`: of bytes that were just stored, whether they are stopped, as `storeForms` says; "again" for others: the ledger is asked. */
export type Send = ReturnType<typeof createSender>;
