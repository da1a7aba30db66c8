import { ponder } from "ponder:registry";
import { recordIssue } from "./shared/bonds.ts";
import { recordQueued, recordRedemption } from "./shared/redemptions.ts";
import { changeVault, DOLLAR, less, recordReservation, recordVault } from "./shared/vault.ts";

// The committed dollars have risen at the bond's mint already, see `ClaimBond.ts`.
ponder.on("BondVault:BondIssued", async ({ event, context: { db } }) => {
  await recordIssue(db, event);
});

ponder.on("BondVault:BondRedeemed", async ({ event, context: { db } }) => {
  const dollars = event.args.usdAmount * DOLLAR;
  const paid = await recordRedemption(db, event);
  await changeVault(db, ({ committed, queued }) =>
    paid === "at once" ? { committed: less(committed, dollars) } : { queued: less(queued, dollars) },
  );
});

ponder.on("BondVault:BondQueued", async ({ event, context: { db } }) => {
  const dollars = event.args.usdAmount * DOLLAR;
  await recordQueued(db, event);
  await changeVault(db, ({ committed, queued }) => {
    const rest = less(committed, dollars);
    return { committed: rest, queued: queued + committed - rest };
  });
});

ponder.on("BondVault:CapacityReserved", async ({ event, context: { db } }) => {
  await recordReservation(db, event, "reserved");
});

ponder.on("BondVault:ReservationCommitted", async ({ event, context: { db } }) => {
  await recordReservation(db, event, "committed");
});

ponder.on("BondVault:ReservationReleased", async ({ event, context: { db } }) => {
  await recordReservation(db, event, "released");
});

ponder.on("BondVault:ObligationsDecreased", async ({ event, context: { db } }) => {
  const { amount, newTotal, caller } = event.args;
  const dollars = { amount: amount / DOLLAR, newTotal: newTotal / DOLLAR };
  await recordVault(db, event, { kind: "obligations_decreased", ...dollars, caller });
  await changeVault(db, () => ({ committed: newTotal }));
});

// The reserve has changed at the token's transfer already, see `ProtocolToken.ts`.
ponder.on("BondVault:ReservesBurned", async ({ event, context: { db } }) => {
  const { amount, newBalance: newTotal, caller } = event.args;
  await recordVault(db, event, { kind: "reserves_burned", amount, newTotal, caller });
});
