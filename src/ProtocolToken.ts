import { ponder } from "ponder:registry";
import { zeroAddress } from "viem";
import { recordBurn } from "./shared/burns.ts";
import { changeVault } from "./shared/vault.ts";

/** Ponder's filter passes transfers to the zero address, the burns, and to the vault. */
ponder.on("ProtocolToken:Transfer", async ({ event, context: { db } }) => {
  const { from: burner, to, value } = event.args;
  if (to === zeroAddress) await recordBurn(db, event, { burner, tokenAmount: value });
  else await changeVault(db, ({ reserve }) => ({ reserve: reserve + value }));
});

/** Transfers from the vault, also those that are burns. */
ponder.on("ReserveOutflow:Transfer", async ({ event, context: { db } }) => {
  const { value } = event.args;
  await changeVault(db, ({ reserve }) => ({ reserve: reserve - value }));
});
