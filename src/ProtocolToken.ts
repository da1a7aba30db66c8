import { ponder } from "ponder:registry";
import { zeroAddress } from "viem";
import { recordBurn } from "./shared/burns.ts";

/** Ponder's filter passes only transfers to the zero address, the burns. A burner's `BurnExecuted` follows later. */
ponder.on("ProtocolToken:Transfer", async ({ event, context: { db } }) => {
  const { from: burner, to, value: tokenAmount } = event.args;
  if (to === zeroAddress) await recordBurn(db, event, { burner, tokenAmount });
});
