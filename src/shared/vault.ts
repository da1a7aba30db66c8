import { vaultEvent, vaultState } from "ponder:schema";
import { type Db, type LogEvent, position } from "./event.ts";

type State = Omit<typeof vaultState.$inferSelect, "id">;
type Row = typeof vaultEvent.$inferSelect;

/** Changes the vault's totals. A total is null until an event has named it. */
export async function changeVault(db: Db, change: (vault: State) => Partial<State>): Promise<void> {
  const none = { totalReserved: null, obligations: null, reserve: null };
  await db
    .insert(vaultState)
    .values({ id: "vault", ...none, ...change(none) })
    .onConflictDoUpdate(change);
}

/** Records an event about the vault's totals, and the new total that it names. */
export async function recordVault(
  db: Db,
  event: LogEvent,
  row: Pick<Row, "kind" | "amount" | "newTotal"> & Partial<Pick<Row, "caller">>,
  named: Partial<State>,
): Promise<void> {
  await db.insert(vaultEvent).values({ ...position(event), ...row });
  await changeVault(db, () => named);
}
