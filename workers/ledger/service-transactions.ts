import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { UPKEEP_POLICIES, upkeepGas } from "../../lib/chain/trigger.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import type { Call, WantedGroup } from "./assign-nonces.ts";
import { isUncompared } from "./fillers.ts";
import { holdsUp } from "./unknown-transactions.ts";

/** SQL of service transactions that wait to be signed: the faucet's grants, and the upkeep of the sandbox's wallet. */

/** A service transaction that is not signed within this time is given up, unless a part of its group was signed, in seconds. */
const SERVICE_TRANSACTION_WITHIN_SECONDS = 60;

/**
 * Service transactions that are signed together or not at all: the transfers of a claim, or one of the upkeep. `id` is the
 * claim's or the service transaction's. A group that is `partlySigned` can no longer be given up.
 */
export type ServiceTransactionGroup = {
  id: string;
  claimId: string | null;
  partlySigned: boolean;
  serviceTransactions: ServiceTransaction[];
};

/** A call that waits to be signed; `gasLimit` where it was fixed when it was recorded, otherwise null: its estimate decides. */
export type ServiceTransaction = {
  id: string;
  purpose: string;
  call: Omit<Call, "gasLimit">;
  gasLimit: bigint | null;
  runsCodeOf: Address | null;
};

type Row = {
  id: string;
  claimId: string | null;
  purpose: string;
  to: Address;
  data: Hex;
  value: string;
  gasLimit: string | null;
  runsCodeOf: Address | null;
  partlySigned: boolean;
};

/** Whether any service transaction of the chain waits to be signed. */
export async function isAnyWaiting(sql: Sql, chainId: number): Promise<boolean> {
  const rows = await sql`
    select 1 from service.waiting where kind = 'service_transaction' and chain_id = ${chainId} limit 1`;
  return rows.length > 0;
}

/**
 * The service transactions of a wallet that may be signed now: `limit` groups at most, oldest first, those that run strangers' code last.
 * An upkeep that a version before 0006_gas_of_code has recorded has no limit; an estimate would find too little.
 */
export async function waitingServiceTransactions(
  sql: Sql,
  chainId: number,
  sender: Address,
  limit: number,
): Promise<ServiceTransactionGroup[]> {
  const rows = await sql<Row[]>`
    with due as (
      select w.group_id, min(w.created_at) as since, bool_or(s.runs_code_of is not null) as runs_code
      from service.waiting w join service.service_transaction s on s.id = w.intent
      where w.kind = 'service_transaction' and w.chain_id = ${chainId} and w.payer = ${sender} and w.wake_at <= now()
        and not exists (
          select 1 from service.relayer_wallet u
          where u.chain_id = ${chainId} and u.unknown_from is not null and ${holdsUp(sql, sender)})
      group by 1 order by runs_code, since limit ${limit})
    select e.id, e.claim_id as "claimId", e.purpose, e."to", e.data, e.value,
      coalesce(e.gas_limit, case e.purpose when 'keeper_trigger' then ${String(upkeepGas(UPKEEP_POLICIES))}::bigint end) as "gasLimit", e.runs_code_of as "runsCodeOf",
      service.is_partly_signed(due.group_id) as "partlySigned"
    from due join service.waiting w on w.group_id = due.group_id join service.service_transaction e on e.id = w.intent
    order by due.runs_code, due.since, due.group_id, e.purpose`;
  const groups = new Map<string, ServiceTransactionGroup>();
  for (const { id, claimId, purpose, to, data, value, partlySigned, ...row } of rows) {
    const key = claimId ?? id;
    const group = groups.get(key) ?? { id: key, claimId, partlySigned, serviceTransactions: [] };
    const gasLimit = row.gasLimit === null ? null : BigInt(row.gasLimit);
    const call = { to, data, value: BigInt(value) };
    group.serviceTransactions.push({ id, purpose, call, gasLimit, runsCodeOf: row.runsCodeOf });
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Locks those of the groups that still wait as a whole and are not too old, or were signed in part. */
export async function lockGroups<Group extends WantedGroup>(
  tx: TransactionSql,
  groups: readonly Group[],
): Promise<Group[]> {
  const ids = groups.flatMap(({ calls }) => calls.map(({ id }) => id));
  const locked = await tx<{ intent: string }[]>`
    select intent from service.waiting
    where intent = any(${ids}::uuid[])
      and (created_at > now() - make_interval(secs => ${SERVICE_TRANSACTION_WITHIN_SECONDS})
        or service.is_partly_signed(group_id))
    order by intent for update skip locked`;
  const free = new Set(locked.map(({ intent }) => intent));
  return groups.filter(({ calls }) => calls.every(({ id }) => free.has(id)));
}

/** A group that was not signed in time; `value` in wei is the sum that `sender` should have sent. */
export type OverdueGroup = { id: string; claimId: string | null; sender: Address; value: bigint };

/**
 * Groups that were not signed in time. While the chain has, or may have, transactions that the ledger lacks, one that is
 * older may have been sent: it is left out.
 */
export async function overdueServiceTransactions(sql: Sql, chainId: number): Promise<OverdueGroup[]> {
  const rows = await sql<(Omit<OverdueGroup, "value"> & { value: string })[]>`
    select w.group_id as id, e.claim_id as "claimId", e.sender, sum(e.value) as value
    from service.waiting w join service.service_transaction e on e.id = w.intent
    where w.kind = 'service_transaction' and w.chain_id = ${chainId}
      and w.created_at <= now() - make_interval(secs => ${SERVICE_TRANSACTION_WITHIN_SECONDS})
      and not service.is_partly_signed(w.group_id) and not exists (
        select 1 from service.relayer_wallet u
        where u.chain_id = ${chainId}
          and (u.unknown_since >= w.created_at or ${isUncompared(sql, chainId)})
          and ${holdsUp(sql, sql`e.sender`)})
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
    with taken as (
      delete from service.waiting where intent = ${id} and not service.is_partly_signed(${id}) returning intent)
    update service.service_transaction e
    set failure_code = ${code}, failure_message = ${message}, refused_at = now()
    from taken where e.id = taken.intent returning e.id`;
  return rows.length > 0;
}
