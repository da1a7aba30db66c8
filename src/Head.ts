import { ponder } from "ponder:registry";
import { head } from "ponder:schema";

/** Ponder runs this after all logs of the block, so the row is the newest block that is completely indexed. */
ponder.on("Head:block", async ({ event, context }) => {
  const { number, hash, timestamp } = event.block;
  const row = { number, hash, timestamp };
  await context.db
    .insert(head)
    .values({ chainId: context.chain.id, ...row })
    .onConflictDoUpdate(row);
});
