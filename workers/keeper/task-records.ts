/** SQL of the keeper's tasks: what is under way for each policy, and what has failed. */
import type { ISql, Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { ABANDONED_SECONDS } from "../../lib/ledger/in-flight.ts";
import type { Batch } from "./batches.ts";
import type { Task } from "./task.ts";

type ProgressState = "accepted" | "signed" | "broadcast" | "mined" | "confirmed" | "failed" | "replaced";

/** What the ledger knows of a task: its failures in a row, and its newest service transaction. */
export type TaskRecord = {
  readonly failures: number;
  /** It has failed, and it is too early to try it again. */
  readonly waitsToRetry: boolean;
  /** Null when nothing is under way. */
  readonly transaction: {
    readonly id: string;
    readonly state: ProgressState;
    /** It is not mined, and no writer has had its wallet for a minute: nobody may ever send it. */
    readonly abandoned: boolean;
    readonly block: { readonly number: bigint; readonly hash: Hex } | null;
    readonly failureCode: string | null;
    readonly failure: string | null;
  } | null;
};

const keysOf = (tasks: readonly Task[]) =>
  JSON.stringify(
    tasks.map(({ purpose, productId, policyId, changedIn }, n) => ({
      ...{ n, purpose, product_id: productId ?? "", policy_id: String(policyId) },
      changed_in: changedIn === null ? null : String(changedIn),
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
  waitsToRetry: boolean;
  id: string | null;
  state: ProgressState | null;
  abandoned: boolean;
  blockNumber: string | null;
  blockHash: Hex | null;
  failureCode: string | null;
  failure: string | null;
};

/** Reads the records of tasks, in their order; undefined for a task that was never begun. */
export async function readTasks(
  sql: Sql,
  chainId: number,
  tasks: readonly Task[],
): Promise<(TaskRecord | undefined)[]> {
  const records = new Array<TaskRecord | undefined>(tasks.length).fill(undefined);
  if (tasks.length === 0) return records;
  const rows = await sql<RecordRow[]>`
    select w.n, k.failures, k.retry_at > now() as "waitsToRetry", e.id, e.state,
      ${isAbandoned(sql)} as abandoned, e.block_number as "blockNumber",
      e.block_hash as "blockHash", e.failure_code as "failureCode", e.failure_message as failure
    from json_to_recordset(${keysOf(tasks)}::text::json) as w (n int, purpose text, product_id text, policy_id numeric)
    join service.keeper_task k on k.chain_id = ${chainId} and k.purpose = w.purpose and k.product_id = w.product_id
      and k.policy_id = w.policy_id
    left join service.service_transaction_progress e on e.id = k.service_transaction_id`;
  for (const row of rows) {
    const { n, failures, waitsToRetry, id, state, abandoned, blockNumber, blockHash, failureCode, failure } =
      row;
    const block =
      blockNumber === null || blockHash === null ? null : { number: BigInt(blockNumber), hash: blockHash };
    const transaction =
      id === null || state === null ? null : { id, state, abandoned, block, failureCode, failure };
    records[n] = { failures, waitsToRetry, transaction };
  }
  return records;
}

/** Somebody else has begun some of the tasks: nothing was stored. */
class AlreadyBegun extends Error {
  override message = "a task has begun already";
}

/**
 * Records a batch as a service transaction of `sender`, which is signed soon after.
 * @returns false, with nothing recorded, when another keeper has begun some of its tasks.
 */
export async function beginBatch(
  sql: Sql,
  chainId: number,
  sender: Address,
  { purpose, tasks, gas, runsCodeOf, to, data }: Batch,
): Promise<boolean> {
  const gasLimit = purpose === "trigger" ? String(gas) : null;
  try {
    await sql.begin(async (tx) => {
      const [row] = await tx<{ id: string }[]>`
        insert into service.service_transaction (chain_id, sender, purpose, "to", data, value, gas_limit, runs_code_of)
        values (${chainId}, ${sender}, ${`keeper_${purpose}`}, ${to}, ${data}, 0, ${gasLimit}, ${runsCodeOf}) returning id`;
      if (!row) throw new Error("the database returned no id");
      if ((await claimTasks(tx, chainId, tasks, row.id)) < tasks.length) throw new AlreadyBegun();
    });
    return true;
  } catch (error) {
    if (error instanceof AlreadyBegun) return false;
    throw error;
  }
}

/**
 * Gives tasks to a service transaction, but those that another one has and may still do, or has done without a trace in the index.
 * After a transaction that has done its work the failures before it count no more.
 * @returns how many tasks it has now.
 */
async function claimTasks(
  tx: TransactionSql,
  chainId: number,
  tasks: readonly Task[],
  id: string,
): Promise<number> {
  const isDone = tx`exists (
    select from service.service_transaction_progress e
    join json_to_recordset(${keysOf(tasks)}::text::json)
      as w (purpose text, product_id text, policy_id numeric, changed_in numeric)
      on w.purpose = k.purpose and w.product_id = k.product_id and w.policy_id = k.policy_id
    where e.id = k.service_transaction_id and e.state in ('mined', 'confirmed') and e.block_number <= w.changed_in)`;
  // In the order of the key: two keepers that claim the same tasks do not wait for each other in a circle.
  const rows = await tx`
    insert into service.keeper_task as k (chain_id, purpose, product_id, policy_id, service_transaction_id)
    select ${chainId}::integer, w.purpose, w.product_id, w.policy_id, ${id}::uuid
    from json_to_recordset(${keysOf(tasks)}::text::json) as w (purpose text, product_id text, policy_id numeric)
    order by 1, 2, 3, 4
    on conflict (chain_id, purpose, product_id, policy_id) do update set service_transaction_id = excluded.service_transaction_id,
      failures = case when ${isDone} then 0 else k.failures end, failure = case when not ${isDone} then k.failure end
    where k.service_transaction_id is null or ${isDone} or exists (
      select 1 from service.service_transaction_progress e
      where e.id = k.service_transaction_id and (e.state in ('failed', 'replaced') or ${isAbandoned(tx)}))
    returning 1`;
  return rows.length;
}

/** A task that failed, why, and after how many seconds it may be tried again. `failures` counts this one. */
export type FailedTask = {
  readonly task: Task;
  readonly failure: string;
  readonly failures: number;
  readonly retryInSeconds: number;
  /** The service transaction that its record names; null when it names none. */
  readonly transactionId: string | null;
};

/** Notes failures, but not of tasks that another keeper has begun again meanwhile. */
export async function noteFailures(sql: Sql, chainId: number, failed: readonly FailedTask[]): Promise<void> {
  if (failed.length === 0) return;
  const facts = failed.map(({ failure, failures, retryInSeconds, transactionId }, n) => ({
    ...{ n, failure, failures, retry: retryInSeconds, id: transactionId },
  }));
  await sql`
    insert into service.keeper_task as k (
      chain_id, purpose, product_id, policy_id, service_transaction_id, failures, failure, retry_at)
    select ${chainId}::integer, w.purpose, w.product_id, w.policy_id, f.id, f.failures, f.failure,
      now() + make_interval(secs => f.retry)
    from json_to_recordset(${keysOf(failed.map(({ task }) => task))}::text::json)
      as w (n int, purpose text, product_id text, policy_id numeric)
    join json_to_recordset(${JSON.stringify(facts)}::text::json)
      as f (n int, failure text, failures int, retry float8, id uuid) using (n)
    order by 1, 2, 3, 4
    on conflict (chain_id, purpose, product_id, policy_id) do update
    set failures = excluded.failures, failure = excluded.failure, retry_at = excluded.retry_at, service_transaction_id = null
    where k.service_transaction_id is not distinct from excluded.service_transaction_id`;
}

/** For so long a failed payout counts for its receiver, in hours. */
const RECEIVER_HOURS = 24;

/** A payout that failed in a block by its receiver's code, and the service transaction that carried it out. */
export type ReceiverFailure = {
  readonly transactionId: string;
  readonly receiver: Address;
  readonly block: { readonly number: bigint };
};

/** Notes failures of receivers, once for each transaction, and only of those that carried out nothing else. */
export async function noteReceiverFailures(
  sql: Sql,
  chainId: number,
  failures: readonly ReceiverFailure[],
): Promise<void> {
  if (failures.length === 0) return;
  const rows = failures.map(({ transactionId, receiver, block }) => ({
    ...{ id: transactionId, receiver, block: String(block.number) },
  }));
  await sql`
    insert into service.receiver_failure (service_transaction_id, chain_id, receiver, block_number)
    select f.id, ${chainId}::integer, f.receiver, f.block
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as f (id uuid, receiver text, block bigint)
    where (select count(*) from service.keeper_task k where k.service_transaction_id = f.id) = 1
    on conflict do nothing`;
}

/** In how many blocks payouts to these receivers have failed by their code, within a day. */
export async function countReceiverFailures(
  sql: Sql,
  chainId: number,
  receivers: readonly Address[],
): Promise<ReadonlyMap<Address, number>> {
  if (receivers.length === 0) return new Map();
  const rows = await sql<{ receiver: Address; failures: number }[]>`
    select receiver, count(distinct block_number)::int as failures from service.receiver_failure
    where receiver = any(${[...receivers]}::text[]) and chain_id = ${chainId}
      and failed_at > now() - make_interval(hours => ${RECEIVER_HOURS})
    group by 1`;
  return new Map(rows.map(({ receiver, failures }) => [receiver, failures]));
}

/** Forgets tasks whose transaction has been final for this long: their policies are closed for good. */
export async function forgetTasks(sql: Sql, chainId: number, days: number): Promise<void> {
  await sql`
    delete from service.receiver_failure
    where chain_id = ${chainId} and failed_at < now() - make_interval(hours => ${RECEIVER_HOURS})`;
  await sql`
    delete from service.keeper_task k using service.transaction t
    where k.chain_id = ${chainId} and t.intent = k.service_transaction_id and t.lost_to is null
      and t.final_at < now() - make_interval(days => ${days})`;
}
