import type { Sql } from "postgres";
import type { Hex } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import type { Logger } from "../../lib/log.ts";
import { markSent, type Signed, stoppedHashes } from "../ledger/signed.ts";
import type { Meter } from "../metrics/meter.ts";
import { type NodeAnswer, type SendAnswer, sendAnswer } from "./answers.ts";
import type { Chain } from "./chain.ts";

const ROUND = 100;

export type SenderOptions = {
  sql: Sql;
  /** For what may be forgotten: bytes that were sent and not noted are sent again. */
  notes: Sql;
  chain: Pick<Chain, "send">;
  meter: Meter;
  log: Logger;
};

/**
 * Hands stored bytes to the node, unless the operator has stopped them, and writes down that it was done. Sending the same
 * bytes twice is harmless, so every doubt ends in sending them again, and no answer of a node ends in a failure. Rejects,
 * with nothing sent, when the database cannot say whether it may be.
 */
export function createSender({ sql, notes, chain, meter, log }: SenderOptions) {
  const stopped = createBatcher((hashes: Hex[]) => stoppedHashes(sql, hashes), ROUND);
  const note = createBatcher((sent: { hash: Hex; accepted: boolean }[]) => markSent(notes, sent), ROUND);

  return async function send({ hash, bytes }: Pick<Signed, "hash" | "bytes">): Promise<SendAnswer> {
    if ((await stopped(hash)).has(hash)) {
      log.warn({ hash }, "not sent: the operator has stopped it");
      return { kind: "stopped" };
    }
    const answer = await chain.send(bytes).then((): NodeAnswer => ({ kind: "accepted" }), sendAnswer);
    meter.answered(hash, answer.kind);
    if (answer.kind !== "accepted") {
      log.warn({ hash, answer: answer.kind, reason: answer.reason }, "sent a transaction without success");
    }
    await note({ hash, accepted: answer.kind === "accepted" });
    return answer;
  };
}

export type Send = ReturnType<typeof createSender>;
