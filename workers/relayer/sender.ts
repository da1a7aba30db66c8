import type { Sql } from "postgres";
import type { Hex } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { markSent, type Signed, stoppedHashes } from "../ledger/signing.ts";
import type { ChainContext } from "./chain-context.ts";
import { type BroadcastResult, broadcastResultOf } from "./node-errors.ts";

/** Most hashes of one statement. */
const ROUND = 100;

export type SenderOptions = Pick<ChainContext, "sql" | "chain" | "meter" | "log"> & {
  /** For writes that a crash may lose: a transaction that was sent and not noted is sent again. */
  notes: Sql;
};

/**
 * Broadcasts stored transactions, unless the operator has stopped them, and notes the node's answers. Sending the same
 * bytes twice is harmless: after every doubt they are sent again, and no answer of a node fails a purchase. Rejects,
 * with nothing sent, when the database cannot be asked for the operator's stops.
 */
export function createSender({ sql, notes, chain, meter, log }: SenderOptions) {
  const readStopped = createBatcher((hashes: Hex[]) => stoppedHashes(sql, hashes), ROUND);
  const note = createBatcher((sent: { hash: Hex; accepted: boolean }[]) => markSent(notes, sent), ROUND);

  return async function send({ hash, bytes }: Pick<Signed, "hash" | "bytes">): Promise<void> {
    if ((await readStopped(hash)).has(hash)) {
      log.warn({ hash }, "not sent: the operator has stopped it");
      return;
    }
    const sending = chain.send(bytes);
    const result = await sending.then((): BroadcastResult => ({ kind: "accepted" }), broadcastResultOf);
    meter.answered(hash, result.kind);
    if (result.kind !== "accepted") {
      log.warn({ hash, answer: result.kind, reason: result.reason }, "a node did not accept a transaction");
    }
    await note({ hash, accepted: result.kind === "accepted" });
  };
}

export type Send = ReturnType<typeof createSender>;
