import { ponder } from "ponder:registry";
import { tokenBurn } from "ponder:schema";
import { zeroAddress } from "viem";
import { recordActivity } from "./shared/activity.ts";
import { attributeBurn } from "./shared/burns.ts";
import { position } from "./shared/event.ts";
import { changeBurnDay, changeBurnSource } from "./shared/sums.ts";

/** Ponder's filter passes only transfers to the zero address, the burns. A burner's `BurnExecuted` follows later. */
ponder.on("ProtocolToken:Transfer", async ({ event, context: { db } }) => {
  const { from: burner, to, value: tokenAmount } = event.args;
  if (to !== zeroAddress) return;
  const added = await db
    .insert(tokenBurn)
    .values({ ...position(event), burner, tokenAmount, source: "direct", usdcSpent: 0n })
    .onConflictDoNothing();
  if (added === null) return;
  const add = (sums: { tokenBurned: bigint; burns: number }) => ({
    tokenBurned: sums.tokenBurned + tokenAmount,
    burns: sums.burns + 1,
  });
  await changeBurnDay(db, event.block.timestamp, add);
  await changeBurnSource(db, "direct", add);
  await recordActivity(db, event, {
    type: "token_burned",
    actor: burner,
    amount: tokenAmount,
    ref: "direct",
  });
  await attributeBurn(db, event, "first", { burner, tokenAmount });
});
