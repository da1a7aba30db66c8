import { vaultBalance, vaultEvent } from "ponder:schema";
import { type Db, type LogEvent, rowAt } from "./event.ts";

type Balance = Omit<typeof vaultBalance.$inferSelect, "id">;
type Row = typeof vaultEvent.$inferSelect;

/** Changes totals of the vault. A total is null until an event has named it. */
export async function changeVault(db: Db, change: (vault: Balance) => Partial<Balance>): Promise<void> {
  const none = { obligations: null, reserve: null };
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
