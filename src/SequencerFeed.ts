import { ponder } from "ponder:registry";
import { sequencerEvent, sequencerState } from "ponder:schema";
import { type Db, rowAt } from "./shared/event.ts";
import { indexedSources } from "./shared/sources.ts";

async function recordStatus(db: Db, status: { up: boolean; startedAt: bigint }): Promise<void> {
  await db
    .insert(sequencerState)
    .values({ id: "sequencer", ...status })
    .onConflictDoUpdate(status);
}

/** Uptime feeds report only changes, and the last one may be years old. */
ponder.on("SequencerFeed:setup", async ({ context: { db } }) => {
  const { before } = indexedSources(process.env).sequencer;
  if (before !== null) await recordStatus(db, { up: before.up, startedAt: BigInt(before.startedAt) });
});

ponder.on("SequencerFeed:AnswerUpdated", async ({ event, context: { db } }) => {
  // In the uptime feeds of Optimism and Base the event's last argument is the start of the status.
  const status = { up: event.args.current === 0n, startedAt: event.args.updatedAt };
  await db.insert(sequencerEvent).values(rowAt(event, status));
  await recordStatus(db, status);
});
