import type { Sql } from "postgres";
import type { Address, Hex } from "viem";

/** Clients make purchases and claims; the service makes service transactions. */
export type EntryKind = "purchase" | "service_transaction" | "claim";

/** The columns of a row: amounts as decimals in the table's units, times as text. */
export type Fields = Readonly<Record<string, string | null>>;

/** Everything in the ledger about one entry. A claim has no transactions; its service transactions have. */
export type EntryHistory = {
  kind: EntryKind;
  id: string;
  fields: Fields;
  transactions: readonly TransactionHistory[];
  serviceTransactions: readonly EntryHistory[];
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
  /** Null for a transaction that has a nonce and no attempt yet. */
  hash: Hex | null;
  cancels: boolean;
  maxFee: string;
  priorityFee: string;
  fencingToken: string;
  signedAt: string;
  lastBroadcastAt: string | null;
};

/** The transactions of a purchase or a service transaction with their attempts, oldest first. */
async function transactionsOf(sql: Sql, id: string): Promise<TransactionHistory[]> {
  const rows = await sql<Row[]>`
    select t.id, t.wallet, t.nonce, t.state, t.created_at::text as "createdAt", t.gas_cost as "gasCost",
      a.hash, a.cancels, a.max_fee as "maxFee", a.priority_fee as "priorityFee", a.fencing_token as "fencingToken",
      a.created_at::text as "signedAt", a.last_broadcast_at::text as "lastBroadcastAt"
    from service.transaction t left join service.attempt a on a.transaction_id = t.id
    where t.intent = ${id} order by t.id, a.id`;
  const transactions = new Map<string, TransactionHistory & { attempts: AttemptHistory[] }>();
  for (const {
    id: transactionId,
    wallet,
    nonce,
    state,
    createdAt,
    gasCost,
    hash,
    signedAt,
    ...attempt
  } of rows) {
    const transaction = transactions.get(transactionId) ?? {
      id: transactionId,
      wallet,
      nonce,
      state,
      createdAt,
      gasCost,
      attempts: [],
    };
    if (hash !== null) transaction.attempts.push({ ...attempt, hash, createdAt: signedAt });
    transactions.set(transactionId, transaction);
  }
  return [...transactions.values()];
}

/** The history of the purchase, service transaction or faucet claim with this id (a UUID); undefined when there is none. */
export async function entryHistory(sql: Sql, id: string): Promise<EntryHistory | undefined> {
  const [row] = await sql<{ kind: EntryKind; fields: Fields }[]>`
    select kind, (select json_object_agg(key, value order by ordinality)
      from json_each_text(entry) with ordinality) as fields
    from (
      select 'purchase' as kind, to_json(p) as entry from service.purchase_progress p where id = ${id}
      union all select 'service_transaction', to_json(e) from service.service_transaction_progress e where id = ${id}
      union all select 'claim', to_json(c) from service.faucet_claim c where id = ${id}) found`;
  if (!row) return undefined;
  const serviceTransactionsOfClaim = await sql<{ id: string }[]>`
    select id from service.service_transaction where claim_id = ${id} order by purpose`;
  const serviceTransactions = await Promise.all(
    serviceTransactionsOfClaim.map((serviceTransaction) => entryHistory(sql, serviceTransaction.id)),
  );
  return {
    ...row,
    id,
    transactions: await transactionsOf(sql, id),
    serviceTransactions: serviceTransactions.flatMap((serviceTransaction) =>
      serviceTransaction ? [serviceTransaction] : [],
    ),
  };
}
