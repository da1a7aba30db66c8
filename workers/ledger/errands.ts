import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import type { Lease } from "./leases.ts";
import { type Call, lockBudgets, type Signed, type SignedIntent, signAll } from "./signed.ts";
import { readSpending, type Spending } from "./spending.ts";

/** SQL over errands for which nothing was signed yet: the faucet's grants, and the upkeep of the sandbox's wallet. */

/** An errand that is not signed within this time is given up, unless something of it was signed before. */
export const ERRAND_WITHIN_SECONDS = 60;

/**
 * Errands that are signed together or not at all: the transfers of a claim, or one of the upkeep. `id` is the claim's or
 * the errand's. `touched`: something of it was signed before, so that it can be given up no more.
 */
export type ErrandGroup = {
  id: string;
  claimId: string | null;
  touched: boolean;
  errands: { id: string; purpose: string; call: Omit<Call, "gasLimit"> }[];
};

type Row = {
  id: string;
  claimId: string | null;
  purpose: string;
  to: Address;
  data: Hex;
  value: string;
  touched: boolean;
};

const touched = (sql: Sql | TransactionSql) => sql`
  exists (select 1 from service.errand x join service.transaction t on t.errand_id = x.id
    where x.id = e.id or x.claim_id = e.claim_id)`;

/** The errands of a wallet that may be signed now, oldest first: `limit` groups at most. */
export async function acceptedErrands(
  sql: Sql,
  chainId: number,
  sender: Address,
  limit: number,
): Promise<ErrandGroup[]> {
  const rows = await sql<Row[]>`
    with due as (
      select coalesce(claim_id, id) as group_id, min(created_at) as since from service.errand
      where chain_id = ${chainId} and sender = ${sender} and state = 'accepted' and wake_at <= now()
      group by 1 order by 2 limit ${limit})
    select e.id, e.claim_id as "claimId", e.purpose, e."to", e.data, e.value, ${touched(sql)} as touched
    from due join service.errand e on coalesce(e.claim_id, e.id) = due.group_id
    where e.state = 'accepted' order by due.since, due.group_id, e.purpose`;
  const groups = new Map<string, ErrandGroup>();
  for (const { id, claimId, purpose, to, data, value, touched } of rows) {
    const key = claimId ?? id;
    const group = groups.get(key) ?? { id: key, claimId, touched, errands: [] };
    group.errands.push({ id, purpose, call: { to, data, value: BigInt(value) } });
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** What a round of signing is asked to sign, by the groups' ids. */
export type WantedGroup = { id: string; calls: readonly { id: string; call: Call }[] };

/**
 * Signs the chosen groups in one transaction, so that a claim's transfers are both signed or neither. Groups that somebody
 * else has moved on, in whole or in part, or that are too old, are no candidates. Throws LeaseLost.
 */
export async function signErrands(
  sql: Sql,
  {
    lease,
    groups,
    choose,
    sign,
  }: {
    lease: Lease;
    groups: readonly WantedGroup[];
    /** Decides, given what was spent so far, which of the groups are signed. */
    choose: (candidates: readonly WantedGroup[], spending: Spending) => readonly WantedGroup[];
    sign: (nonce: number, call: Call) => Promise<Signed>;
  },
): Promise<SignedIntent[]> {
  return sql.begin(async (tx): Promise<SignedIntent[]> => {
    await lockBudgets(tx, lease.chainId);
    const ids = groups.flatMap(({ calls }) => calls.map(({ id }) => id));
    const locked = await tx<{ id: string }[]>`
      select e.id from service.errand e
      where e.id = any(${ids}::uuid[]) and e.state = 'accepted' and e.sender = ${lease.address}
        and (e.created_at > now() - make_interval(secs => ${ERRAND_WITHIN_SECONDS}) or ${touched(tx)})
      order by e.id for update of e skip locked`;
    const free = new Set(locked.map(({ id }) => id));
    const candidates = groups.filter(({ calls }) => calls.every(({ id }) => free.has(id)));
    const chosen = choose(candidates, await readSpending(tx, lease, []));
    const calls = chosen.flatMap((group) => group.calls);
    return calls.length === 0 ? [] : signAll(tx, { kind: "errand", lease, calls, sign });
  });
}

/** Lets a group be looked at again in `seconds`. */
export async function tryErrandsAgainIn(sql: Sql, group: ErrandGroup, seconds: number): Promise<void> {
  const ids = group.errands.map(({ id }) => id);
  await sql`
    update service.errand set wake_at = now() + make_interval(secs => ${seconds})
    where id = any(${ids}::uuid[]) and state = 'accepted'`;
}

/** A group of which nothing was signed in time; `sender` is the wallet that should have, and given away `value` wei. */
export type OverdueGroup = { id: string; claimId: string | null; sender: Address; value: bigint };

export async function overdueErrands(sql: Sql, chainId: number): Promise<OverdueGroup[]> {
  const rows = await sql<(Omit<OverdueGroup, "value"> & { value: string })[]>`
    select coalesce(e.claim_id, e.id) as id, e.claim_id as "claimId", e.sender, sum(e.value) as value from service.errand e
    where e.chain_id = ${chainId} and e.state = 'accepted'
      and e.created_at <= now() - make_interval(secs => ${ERRAND_WITHIN_SECONDS}) and not ${touched(sql)}
    group by 1, 2, 3 limit 100`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value) }));
}

/**
 * Gives a group up of which nothing was ever signed: a claim's slots are free again. False, and nothing changes, when
 * something was signed meanwhile.
 */
export async function giveUp(
  sql: Sql,
  { id, claimId }: Pick<ErrandGroup, "id" | "claimId">,
  { code, message }: { code: ErrorCode; message: string },
): Promise<boolean> {
  if (claimId !== null) {
    const [row] = await sql<{ freed: boolean }[]>`
      select service.free_claim(${claimId}, ${code}, ${message}) as freed`;
    return row?.freed ?? false;
  }
  const rows = await sql`
    update service.errand e
    set state = 'failed', failure_code = ${code}, failure_message = ${message}, final_at = now(), updated_at = now()
    where e.id = ${id} and e.state = 'accepted' and not ${touched(sql)} returning e.id`;
  return rows.length > 0;
}
