import { ponder } from "ponder:registry";
import { sequencerState } from "ponder:schema";
import type { Db } from "./shared/event.ts";
import { indexedFeeds } from "./shared/price-feeds.ts";

async function recordStatus(db: Db, status: { up: boolean; startedAt: bigint }): Promise<void> {
  await db
    .insert(sequencerState)
    .values({ id: "sequencer", ...status })
    .onConflictDoUpdate(status);
}

/** Uptime feeds report only changes, and the last one may be years old. */
ponder.on("SequencerFeed:setup", async ({ context: { db } }) => {
  const { before } = indexedFeeds(process.env).sequencer;
  if (before !== null) await recordStatus(db, { up: before.up, startedAt: BigInt(before.startedAt) });
});

ponder.on("SequencerFeed:AnswerUpdated", async ({ event, context: { db } }) => {
  // In the uptime feeds of Optimism and Base the event's last argument is the start of the status.
  await recordStatus(db, { up: event.args.current === 0n, startedAt: event.args.updatedAt });
});
