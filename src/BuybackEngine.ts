import { ponder } from "ponder:registry";
import { attributeBurn } from "./shared/burns.ts";

ponder.on("BuybackEngine:DoubleBurnExecuted", async ({ event, context: { db, contracts } }) => {
  const { tokenBurned: tokenAmount } = event.args;
  // The tokens are the reserve's, and no USDC was paid for them.
  const burn = { burner: contracts.BondVault.address, tokenAmount };
  await attributeBurn(db, event, burn, { source: "buyback_engine", usdcSpent: 0n, effectivePrice: null });
});
