import type { Sql } from "postgres";
import type { Address, Hex } from "viem";

/** What is somebody's, or the service's own. */
export type EntryKind = "purchase" | "errand" | "claim";

/** A row as it is stored: amounts as decimals in the table's units, times as text. */
export type Fields = Readonly<Record<string, string | null>>;

/** Everything that the ledger has of one entry; a claim's own transactions are those of its errands. */
export type EntryHistory = {
  kind: EntryKind;
  id: string;
  fields: Fields;
  transactions: readonly TransactionHistory[];
  errands: readonly EntryHistory[];
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

/** The transactions of a purchase or an errand, each with its signed forms, in the order of their making. */
async function transactionsOf(sql: Sql, id: string): Promise<TransactionHistory[]> {
  const rows = await sql<Row[]>`
    select t.id, t.wallet, t.nonce, t.state, t.created_at as "createdAt", t.gas_cost as "gasCost",
      a.hash, a.cancels, a.max_fee as "maxFee", a.priority_fee as "priorityFee", a.fencing_token as "fencingToken",
      a.created_at as "signedAt", a.last_broadcast_at as "lastBroadcastAt"
    from service.transaction t join service.attempt a on a.transaction_id = t.id
    where t.purchase_id = ${id} or t.errand_id = ${id} order by t.id, a.id`;
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
  return [...transactions.values()];
}

/** Undefined when neither a purchase nor an errand nor a claim of the faucet has this id, which is a UUID. */
export async function entryHistory(sql: Sql, id: string): Promise<EntryHistory | undefined> {
  const [row] = await sql<{ kind: EntryKind; fields: Fields }[]>`
    select kind, (select json_object_agg(key, value order by ordinality)
      from json_each_text(entry) with ordinality) as fields
    from (
      select 'purchase' as kind, to_json(p) as entry from service.purchase p where id = ${id}
      union all select 'errand', to_json(e) from service.errand e where id = ${id}
      union all select 'claim', to_json(c) from service.faucet_claim c where id = ${id}) found`;
  if (!row) return undefined;
  const ofClaim = await sql<{ id: string }[]>`
    select id from service.errand where claim_id = ${id} order by purpose`;
  const errands = await Promise.all(ofClaim.map((errand) => entryHistory(sql, errand.id)));
  return {
    ...row,
    id,
    transactions: await transactionsOf(sql, id),
    errands: errands.flatMap((errand) => (errand ? [errand] : [])),
  };
}
