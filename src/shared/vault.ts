import { vaultBalance, vaultEvent } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";

type Balance = Omit<typeof vaultBalance.$inferSelect, "id">;
type Row = typeof vaultEvent.$inferSelect;
type Reservation = LogEvent & { args: { amount: bigint; newTotalReserved: bigint } };

/** A dollar in the vault's units. */
export const DOLLAR = 10n ** 18n;
/** From the vault's dollars to USDC, which has 6 decimals. */
const TO_USDC = 10n ** 12n;

/** The difference, or 0 where it would be below. */
export const less = (total: bigint, part: bigint): bigint => (total > part ? total - part : 0n);

/** Changes totals of the vault, which are 0 at first. */
export async function changeVault(db: Db, change: (vault: Balance) => Partial<Balance>): Promise<void> {
  const none = { committed: 0n, queued: 0n, reserve: 0n };
  await db
    .insert(vaultBalance)
    .values({ id: "vault", ...none, ...change(none) })
    .onConflictDoUpdate(change);
}

/** Records an event about one of the vault's totals. */
export async function recordVault(
  db: Db,
  event: LogEvent,
  row: Pick<Row, "kind" | "amount" | "newTotal"> & Partial<Pick<Row, "caller">>,
): Promise<void> {
  await db.insert(vaultEvent).values(rowAt(event, row));
}

/** Records a change of what is reserved for open policies. */
export async function recordReservation(
  db: Db,
  event: Reservation,
  kind: "reserved" | "committed" | "released",
): Promise<void> {
  const { amount, newTotalReserved } = event.args;
  await recordVault(db, event, { kind, amount: amount / TO_USDC, newTotal: newTotalReserved / TO_USDC });
}
