import type { Sql } from "postgres";
import type { Address, Hex } from "viem";

/** Everything that the ledger has of one purchase, as it is stored: amounts as decimals in the tables' units, times as text. */
export type PurchaseHistory = {
  purchase: Readonly<Record<string, string | null>>;
  transactions: readonly TransactionHistory[];
};
export type TransactionHistory = {
  id: string;
  wallet: Address;
  nonce: string;
  state: string;
  createdAt: string;
  gasCost: string | null;
  attempts: readonly AttemptHistory[];
};
export type AttemptHistory = {
  hash: Hex;
  cancels: boolean;
  maxFee: string;
  priorityFee: string;
  fencingToken: string;
  createdAt: string;
  lastBroadcastAt: string | null;
};

type Row = Omit<TransactionHistory, "attempts"> & {
  hash: Hex;
  cancels: boolean;
  maxFee: string;
  priorityFee: string;
  fencingToken: string;
  signedAt: string;
  lastBroadcastAt: string | null;
};

/** Undefined when no purchase has this id, which is a UUID. */
export async function purchaseHistory(sql: Sql, id: string): Promise<PurchaseHistory | undefined> {
  const [row] = await sql<{ fields: Record<string, string | null> }[]>`
    select (select json_object_agg(key, value order by ordinality)
      from json_each_text(to_json(p)) with ordinality) as fields
    from service.purchase p where id = ${id}`;
  if (!row) return undefined;
  const rows = await sql<Row[]>`
    select t.id, t.wallet, t.nonce, t.state, t.created_at as "createdAt", t.gas_cost as "gasCost",
      a.hash, a.cancels, a.max_fee as "maxFee", a.priority_fee as "priorityFee", a.fencing_token as "fencingToken",
      a.created_at as "signedAt", a.last_broadcast_at as "lastBroadcastAt"
    from service.transaction t join service.attempt a on a.transaction_id = t.id
    where t.purchase_id = ${id} order by t.id, a.id`;
  const transactions = new Map<string, TransactionHistory & { attempts: AttemptHistory[] }>();
  for (const { id: transactionId, wallet, nonce, state, createdAt, gasCost, signedAt, ...attempt } of rows) {
    const transaction = transactions.get(transactionId) ?? {
      id: transactionId,
      wallet,
      nonce,
      state,
      createdAt,
      gasCost,
      attempts: [],
    };
    transaction.attempts.push({ ...attempt, createdAt: signedAt });
    transactions.set(transactionId, transaction);
  }
  return { purchase: row.fields, transactions: [...transactions.values()] };
}
