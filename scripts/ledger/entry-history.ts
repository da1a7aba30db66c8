import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { IntentKind } from "../../lib/ledger/transaction-kind.ts";

/** Clients make purchases and claims; the service makes service transactions. */
export type EntryKind = "purchase" | "service_transaction" | "claim";

/** The columns of a row: amounts as decimals in the table's units, times as text. */
export type Fields = Readonly<Record<string, string | null>>;

/**
 * Everything in the ledger about one entry; the transaction of a purchase's permit comes before its own. A claim has no
 * transactions; its service transactions have.
 */
export type EntryHistory = {
  kind: EntryKind;
  id: string;
  fields: Fields;
  transactions: readonly TransactionHistory[];
  serviceTransactions: readonly EntryHistory[];
};
/** Amounts are decimals, times ISO 8601. */
export type TransactionHistory = {
  kind: IntentKind;
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

/** The history of the purchase, service transaction or faucet claim with this id (a UUID); undefined when there is none. */
export async function entryHistory(sql: Sql, id: string): Promise<EntryHistory | undefined> {
  const [row] = await sql<Pick<EntryHistory, "kind" | "fields" | "transactions">[]>`
    select kind, (select json_object_agg(key, value order by ordinality)
        from json_each_text(entry) with ordinality) as fields,
      coalesce((select transactions from service.archived_purchase where id = ${id}), service.transaction_history(${id}))
        as transactions
    from (
      select 'purchase' as kind, to_json(p) as entry from (
        select *, (select traceparent from service.purchase_trace where purchase_id = ${id}) as traceparent
        from service.purchase_progress where id = ${id}) p
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
    serviceTransactions: serviceTransactions.flatMap((serviceTransaction) =>
      serviceTransaction ? [serviceTransaction] : [],
    ),
  };
}
