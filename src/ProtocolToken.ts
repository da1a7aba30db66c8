import { ponder } from "ponder:registry";
import { tokenBurn } from "ponder:schema";
import { zeroAddress } from "viem";
import { attributeBurn } from "./shared/burns.ts";
import { rowAt } from "./shared/event.ts";

/** Ponder's filter passes only transfers to the zero address, the burns. A burner's `BurnExecuted` follows later. */
ponder.on("ProtocolToken:Transfer", async ({ event, context: { db } }) => {
  const { from: burner, to, value: tokenAmount } = event.args;
  if (to !== zeroAddress) return;
  await db.insert(tokenBurn).values(rowAt(event, { burner, tokenAmount, source: "direct", usdcSpent: 0n }));
  await attributeBurn(db, event, "first", { burner, tokenAmount });
});
