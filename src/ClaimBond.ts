import { ponder } from "ponder:registry";
import { bondSupplyEvent, bondTransfer } from "ponder:schema";
import { zeroAddress } from "viem";
import { rowAt } from "./shared/event.ts";
import { noteBurn } from "./shared/redemptions.ts";
import { changeVault, DOLLAR } from "./shared/vault.ts";

ponder.on("ClaimBond:TransferSingle", async ({ event, context: { db } }) => {
  const { id: epochId, value: amount, ...transfer } = event.args;
  await db.insert(bondTransfer).values(rowAt(event, { item: 0, ...transfer, epochId, amount }));
  // Not at `BondIssued`: before it a holder that is a contract can surrender bonds, and the total of that event has this bond.
  if (transfer.from === zeroAddress)
    await changeVault(db, ({ committed }) => ({ committed: committed + amount * DOLLAR }));
});

ponder.on("ClaimBond:TransferBatch", async ({ event, context: { db } }) => {
  const { ids, values, ...transfer } = event.args;
  for (const [item, epochId] of ids.entries()) {
    const amount = values[item] ?? 0n;
    await db.insert(bondTransfer).values(rowAt(event, { item, ...transfer, epochId, amount }));
  }
});

ponder.on("ClaimBond:BondsMinted", async ({ event, context: { db } }) => {
  const { epochId, to: holder, usdAmount: amount } = event.args;
  await db.insert(bondSupplyEvent).values(rowAt(event, { kind: "minted", epochId, holder, amount }));
});

ponder.on("ClaimBond:BondsBurned", async ({ event, context: { db } }) => {
  const { epochId, from: holder, usdAmount: amount } = event.args;
  noteBurn(event, { holder, epochId, usdAmount: amount });
  await db.insert(bondSupplyEvent).values(rowAt(event, { kind: "burned", epochId, holder, amount }));
});

ponder.on("ClaimBond:BondsBurnedByHolder", async ({ event, context: { db } }) => {
  const { epochId, holder, amount } = event.args;
  await db.insert(bondSupplyEvent).values(rowAt(event, { kind: "surrendered", epochId, holder, amount }));
});

ponder.on("ClaimBond:EpochCreated", async ({ event, context: { db } }) => {
  const { epochId, maturityDate: amount } = event.args;
  await db
    .insert(bondSupplyEvent)
    .values(rowAt(event, { kind: "epoch_created", epochId, holder: null, amount }));
});
