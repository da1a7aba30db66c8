import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import { readSpending, type Spending } from "./gas-spending.ts";
import type { Lease } from "./leases.ts";
import { type Call, lockBudgets, type Signed, type SignedIntent, signAll } from "./signing.ts";

/** SQL of accepted service transactions: the faucet's grants, and the upkeep of the sandbox's wallet. */

/** A service transaction that is not signed within this time is given up, unless a part of its group was signed, in seconds. */
export const SERVICE_TRANSACTION_WITHIN_SECONDS = 60;

/**
 * ServiceTransactions that are signed together or not at all: the transfers of a claim, or one service transaction of the upkeep. `id` is the
 * claim's or the service transaction's. A group that is `partlySigned` can no longer be given up.
 */
export type ServiceTransactionGroup = {
  id: string;
  claimId: string | null;
  partlySigned: boolean;
  serviceTransactions: { id: string; purpose: string; call: Omit<Call, "gasLimit"> }[];
};

type Row = {
  id: string;
  claimId: string | null;
  purpose: string;
  to: Address;
  data: Hex;
  value: string;
  partlySigned: boolean;
};

const partlySigned = (sql: Sql | TransactionSql) => sql`
  exists (select 1 from service.service_transaction x join service.transaction t on t.service_transaction_id = x.id
    where x.id = e.id or x.claim_id = e.claim_id)`;

/** The service transactions of a wallet that may be signed now, oldest first: `limit` groups at most. */
export async function acceptedServiceTransactions(
  sql: Sql,
  chainId: number,
  sender: Address,
  limit: number,
): Promise<ServiceTransactionGroup[]> {
  const rows = await sql<Row[]>`
    with due as (
      select coalesce(claim_id, id) as group_id, min(created_at) as since from service.service_transaction
      where chain_id = ${chainId} and sender = ${sender} and state = 'accepted' and wake_at <= now()
      group by 1 order by 2 limit ${limit})
    select e.id, e.claim_id as "claimId", e.purpose, e."to", e.data, e.value, ${partlySigned(sql)} as "partlySigned"
    from due join service.service_transaction e on coalesce(e.claim_id, e.id) = due.group_id
    where e.state = 'accepted' order by due.since, due.group_id, e.purpose`;
  const groups = new Map<string, ServiceTransactionGroup>();
  for (const { id, claimId, purpose, to, data, value, partlySigned } of rows) {
    const key = claimId ?? id;
    const group = groups.get(key) ?? { id: key, claimId, partlySigned, serviceTransactions: [] };
    group.serviceTransactions.push({ id, purpose, call: { to, data, value: BigInt(value) } });
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A group that is to be signed, with the gas limits of its calls. */
export type WantedGroup = { id: string; calls: readonly { id: string; call: Call }[] };

/**
 * Signs the chosen groups in one transaction, so that both transfers of a claim are signed or neither. Candidates are
 * the groups that are still accepted as a whole and not too old. Throws LeaseLost.
 */
export async function signServiceTransactions(
  sql: Sql,
  {
    lease,
    groups,
    choose,
    sign,
  }: {
    lease: Lease;
    groups: readonly WantedGroup[];
    /** Chooses which of the groups are signed, from the costs so far. */
    choose: (candidates: readonly WantedGroup[], spending: Spending) => readonly WantedGroup[];
    sign: (nonce: number, call: Call) => Promise<Signed>;
  },
): Promise<SignedIntent[]> {
  return sql.begin(async (tx): Promise<SignedIntent[]> => {
    await lockBudgets(tx, lease.chainId);
    const ids = groups.flatMap(({ calls }) => calls.map(({ id }) => id));
    const locked = await tx<{ id: string }[]>`
      select e.id from service.service_transaction e
      where e.id = any(${ids}::uuid[]) and e.state = 'accepted' and e.sender = ${lease.address}
        and (e.created_at > now() - make_interval(secs => ${SERVICE_TRANSACTION_WITHIN_SECONDS}) or ${partlySigned(tx)})
      order by e.id for update of e skip locked`;
    const free = new Set(locked.map(({ id }) => id));
    const candidates = groups.filter(({ calls }) => calls.every(({ id }) => free.has(id)));
    const chosen = choose(candidates, await readSpending(tx, lease, []));
    const calls = chosen.flatMap((group) => group.calls);
    return calls.length === 0 ? [] : signAll(tx, { kind: "service_transaction", lease, calls, sign });
  });
}

/** Lets a group be signed in `seconds`. */
export async function tryServiceTransactionsAgainIn(
  sql: Sql,
  group: ServiceTransactionGroup,
  seconds: number,
): Promise<void> {
  const ids = group.serviceTransactions.map(({ id }) => id);
  await sql`
    update service.service_transaction set wake_at = now() + make_interval(secs => ${seconds})
    where id = any(${ids}::uuid[]) and state = 'accepted'`;
}

/** A group that was not signed in time; `value` in wei is the sum that `sender` should have sent. */
export type OverdueGroup = { id: string; claimId: string | null; sender: Address; value: bigint };

export async function overdueServiceTransactions(sql: Sql, chainId: number): Promise<OverdueGroup[]> {
  const rows = await sql<(Omit<OverdueGroup, "value"> & { value: string })[]>`
    select coalesce(e.claim_id, e.id) as id, e.claim_id as "claimId", e.sender, sum(e.value) as value from service.service_transaction e
    where e.chain_id = ${chainId} and e.state = 'accepted'
      and e.created_at <= now() - make_interval(secs => ${SERVICE_TRANSACTION_WITHIN_SECONDS}) and not ${partlySigned(sql)}
    group by 1, 2, 3 limit 100`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value) }));
}

/**
 * Fails a group that was never signed; a claim's slots are free again. False, with nothing changed, when something was
 * signed meanwhile.
 */
export async function giveUp(
  sql: Sql,
  { id, claimId }: Pick<ServiceTransactionGroup, "id" | "claimId">,
  { code, message }: { code: ErrorCode; message: string },
): Promise<boolean> {
  if (claimId !== null) {
    const [row] = await sql<{ freed: boolean }[]>`
      select service.free_claim(${claimId}, ${code}, ${message}) as freed`;
    return row?.freed ?? false;
  }
  const rows = await sql`
    update service.service_transaction e
    set state = 'failed', failure_code = ${code}, failure_message = ${message}, final_at = now(), updated_at = now()
    where e.id = ${id} and e.state = 'accepted' and not ${partlySigned(sql)} returning e.id`;
  return rows.length > 0;
}
