/** SQL of the keeper's tasks: what is under way for each policy, and what has failed. */
import type { ISql, Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { ABANDONED_SECONDS } from "../../lib/ledger/in-flight.ts";
import type { Batch } from "./batches.ts";
import type { Work } from "./work.ts";

type ProgressState = "accepted" | "signed" | "broadcast" | "mined" | "confirmed" | "failed" | "replaced";

/** What the ledger knows of some work: its failures in a row, and its newest service transaction. */
export type TaskRecord = {
  readonly failures: number;
  /** It has failed, and is not tried before its rest is over. */
  readonly resting: boolean;
  /** Null when nothing is under way. */
  readonly transaction: {
    readonly id: string;
    readonly state: ProgressState;
    /** Other work is in it too. */
    readonly shared: boolean;
    /** It is not mined, and no writer has had its wallet for a minute: nobody may ever send it. */
    readonly abandoned: boolean;
    readonly block: { readonly number: bigint; readonly hash: Hex } | null;
    readonly failureCode: string | null;
    readonly failure: string | null;
  } | null;
};

const keysOf = (work: readonly Work[]) =>
  JSON.stringify(
    work.map(({ purpose, productId, policyId }, n) => ({
      ...{ n, purpose, product_id: productId ?? "", policy_id: String(policyId) },
    })),
  );

/** Whether nobody may ever send the service transaction `e`: another keeper's writer has died with its key. */
const isAbandoned = (sql: ISql) => sql`
  (e.state in ('accepted', 'signed', 'broadcast') and not exists (
    select from service.relayer_wallet w where w.chain_id = e.chain_id and w.address = e.sender
      and w.lease_until > now() - make_interval(secs => ${ABANDONED_SECONDS})))`;

type RecordRow = {
  n: number;
  failures: number;
  resting: boolean;
  id: string | null;
  state: ProgressState | null;
  to: Address | null;
  abandoned: boolean;
  blockNumber: string | null;
  blockHash: Hex | null;
  failureCode: string | null;
  failure: string | null;
};

/** Reads the records of work, in its order; undefined for work that was never begun. */
export async function readTasks(
  sql: Sql,
  chainId: number,
  work: readonly Work[],
): Promise<(TaskRecord | undefined)[]> {
  const records = new Array<TaskRecord | undefined>(work.length).fill(undefined);
  if (work.length === 0) return records;
  const rows = await sql<RecordRow[]>`
    select w.n, k.failures, k.retry_at > now() as resting, e.id, e.state, e."to",
      ${isAbandoned(sql)} as abandoned, e.block_number as "blockNumber",
      e.block_hash as "blockHash", e.failure_code as "failureCode", e.failure_message as failure
    from json_to_recordset(${keysOf(work)}::text::json) as w (n int, purpose text, product_id text, policy_id numeric)
    join service.keeper_task k on k.chain_id = ${chainId} and k.purpose = w.purpose and k.product_id = w.product_id
      and k.policy_id = w.policy_id
    left join service.service_transaction_progress e on e.id = k.service_transaction_id`;
  for (const row of rows) {
    const { n, failures, resting, id, state, to, abandoned, blockNumber, blockHash, failureCode, failure } =
      row;
    const block =
      blockNumber === null || blockHash === null ? null : { number: BigInt(blockNumber), hash: blockHash };
    const shared = to !== work[n]?.to;
    const transaction =
      id === null || state === null ? null : { id, state, shared, abandoned, block, failureCode, failure };
    records[n] = { failures, resting, transaction };
  }
  return records;
}

/** Somebody else has begun some of the work: nothing was stored. */
class AlreadyBegun extends Error {
  override message = "the work has begun already";
}

/**
 * Records a batch as a service transaction of `sender`, which is signed soon after.
 * @returns false, with nothing recorded, when another keeper has begun some of its work.
 */
export async function beginBatch(
  sql: Sql,
  chainId: number,
  sender: Address,
  { purpose, work, to, data }: Batch,
): Promise<boolean> {
  try {
    await sql.begin(async (tx) => {
      const [row] = await tx<{ id: string }[]>`
        insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
        values (${chainId}, ${sender}, ${`keeper_${purpose}`}, ${to}, ${data}, 0) returning id`;
      if (!row) throw new Error("the database returned no id");
      if ((await claimTasks(tx, chainId, work, row.id)) < work.length) throw new AlreadyBegun();
    });
    return true;
  } catch (error) {
    if (error instanceof AlreadyBegun) return false;
    throw error;
  }
}

/** Gives work to a service transaction, unless another one has it that may still do it. @returns how many tasks it has now. */
async function claimTasks(
  tx: TransactionSql,
  chainId: number,
  work: readonly Work[],
  id: string,
): Promise<number> {
  // In the order of the key: two keepers that claim the same work do not wait for each other in a circle.
  const rows = await tx`
    insert into service.keeper_task as k (chain_id, purpose, product_id, policy_id, service_transaction_id)
    select ${chainId}::integer, w.purpose, w.product_id, w.policy_id, ${id}::uuid
    from json_to_recordset(${keysOf(work)}::text::json) as w (purpose text, product_id text, policy_id numeric)
    order by 1, 2, 3, 4
    on conflict (chain_id, purpose, product_id, policy_id) do update set service_transaction_id = excluded.service_transaction_id
    where k.service_transaction_id is null or exists (
      select 1 from service.service_transaction_progress e
      where e.id = k.service_transaction_id and (e.state in ('failed', 'replaced') or ${isAbandoned(tx)}))
    returning 1`;
  return rows.length;
}

/** Work that failed, why, and for how long it rests, in seconds. `failures` counts this one. */
export type FailedWork = {
  readonly work: Work;
  readonly failure: string;
  readonly failures: number;
  readonly rest: number;
  /** The service transaction that its record names; null when it names none. */
  readonly transactionId: string | null;
};

/** Notes failures. Work that another keeper has begun again meanwhile is left alone. */
export async function noteFailures(sql: Sql, chainId: number, failed: readonly FailedWork[]): Promise<void> {
  if (failed.length === 0) return;
  const facts = failed.map(({ failure, failures, rest, transactionId }, n) => ({
    ...{ n, failure, failures, rest, id: transactionId },
  }));
  await sql`
    insert into service.keeper_task as k (
      chain_id, purpose, product_id, policy_id, service_transaction_id, failures, failure, retry_at)
    select ${chainId}::integer, w.purpose, w.product_id, w.policy_id, f.id, f.failures, f.failure,
      now() + make_interval(secs => f.rest)
    from json_to_recordset(${keysOf(failed.map(({ work }) => work))}::text::json)
      as w (n int, purpose text, product_id text, policy_id numeric)
    join json_to_recordset(${JSON.stringify(facts)}::text::json)
      as f (n int, failure text, failures int, rest float8, id uuid) using (n)
    order by 1, 2, 3, 4
    on conflict (chain_id, purpose, product_id, policy_id) do update
    set failures = excluded.failures, failure = excluded.failure, retry_at = excluded.retry_at, service_transaction_id = null
    where k.service_transaction_id is not distinct from excluded.service_transaction_id`;
}

/** Forgets tasks whose transaction has been final for this long: their policies are closed for good. */
export async function forgetTasks(sql: Sql, chainId: number, days: number): Promise<void> {
  await sql`
    delete from service.keeper_task k using service.transaction t
    where k.chain_id = ${chainId} and t.intent = k.service_transaction_id and t.lost_to is null
      and t.final_at < now() - make_interval(days => ${days})`;
}
