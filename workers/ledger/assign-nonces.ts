import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import type { IntentKind } from "../../lib/ledger/transaction-kind.ts";
import { isUncompared } from "./fillers.ts";
import { readSpending, type Spending, whileBudgetLocked } from "./gas-spending.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";
import { waitAgain } from "./outcomes.ts";
import { holdsUp } from "./unknown-transactions.ts";

/** The call of a transaction; `value` in wei, `gasLimit` in gas. */
export type Call = { to: Address; data: Hex; value: bigint; gasLimit: bigint };

/** A call, and the most that the chain may charge for its data on the L1, in wei; 0 on a chain without such a fee. */
export type PricedCall = Call & { l1Fee: bigint };

/** The most that a call may cost in wei, without the ether that it transfers; `maxFee` in wei per gas. */
export const costOf = ({ gasLimit, l1Fee }: Pick<PricedCall, "gasLimit" | "l1Fee">, maxFee: bigint): bigint =>
  gasLimit * maxFee + l1Fee;

/**
 * A call that is wanted, with the id of its intent. `cost`, in wei, is the most that its gas may cost. A permit is sent for a
 * purchase that waits, before it or, where it is alone, while it goes on waiting.
 */
export type WantedCall = {
  id: string;
  call: Call;
  cost: bigint;
  /** The contract whose code it runs: a receiver of bonds, or a permit's owner. Without one: nobody's but the protocol's. */
  runsCodeOf?: Address | null;
} & ({ kind: Exclude<IntentKind, "permit"> } | { kind: "permit"; purchaseId: string });

/** Calls that are sent together or not at all, in their order. `id`: of the purchase, claim or service transaction. */
export type WantedGroup = { id: string; calls: readonly WantedCall[] };

/** The most that a group's gas may cost, in wei. */
export const costOfGroup = ({ calls }: WantedGroup): bigint =>
  calls.reduce((sum, { cost }) => sum + cost, 0n);

/** The most that the gas of a group's calls may cost that run strangers' code, in wei. */
export const codeCostOfGroup = ({ calls }: WantedGroup): bigint =>
  calls.reduce((sum, { cost, runsCodeOf }) => (runsCodeOf ? sum + cost : sum), 0n);

/** A call with its nonce. */
export type Assigned = WantedCall & { transactionId: number; nonce: number };

/** Who may be sent now, and which of them are. */
export type Assignment<Candidate, Choice extends { send: readonly WantedCall[] }> = {
  lease: Lease;
  /** Locks and reads, in the order in which they are to be sent, those of the wanted that still wait to be signed. */
  candidates: (tx: TransactionSql) => Promise<readonly Candidate[]>;
  /** The wallets whose keys ask for them: their day's gas is read too. */
  clients: (candidates: readonly Candidate[]) => readonly Address[];
  /** Chooses within the budgets: nobody else reserves gas meanwhile. */
  choose: (candidates: readonly Candidate[], spending: Spending) => Choice;
  /** Runs once the nonces are stored. If it rejects, they are undone. */
  verify?: (tx: TransactionSql, choice: Choice) => Promise<void>;
};

/**
 * No wallet of the chain but the keeper's may use a nonce now: the chain knows transactions that the ledger does not, or nobody has
 * compared them since commits may have been lost. A new one could be the second for the same call. A keeper's wallet waits only for its
 * own: its calls do no harm when they are sent twice, and cannot wait.
 */
export class NoncesWithheld extends Error {
  override name = "NoncesWithheld";
  constructor() {
    super("the chain has, or may have, transactions that the ledger does not know");
  }
}

/**
 * Gives the chosen calls the next nonces of a wallet and stores them, in one transaction of the database. Nothing is signed here: a
 * nonce that never gets its bytes, because the process died, is signed by the recovery for the same call. The statement that takes the
 * nonces checks the fencing token.
 * @throws LeaseLost
 * @throws NoncesWithheld
 */
export async function assignNonces<Candidate, Choice extends { send: readonly WantedCall[] }>(
  sql: Sql,
  { lease, candidates, clients, choose, verify }: Assignment<Candidate, Choice>,
): Promise<{ choice: Choice; assigned: Assigned[] }> {
  return whileBudgetLocked(sql, lease, async (tx) => {
    const waiting = await candidates(tx);
    const choice = choose(waiting, await readSpending(tx, lease, clients(waiting)));
    if (choice.send.length === 0) return { choice, assigned: [] };
    const assigned = await store(tx, lease, choice.send);
    await verify?.(tx, choice);
    return { choice, assigned };
  });
}

async function store(tx: TransactionSql, lease: Lease, wanted: readonly WantedCall[]): Promise<Assigned[]> {
  const calls = wanted.map(({ call: { to, data, value, gasLimit }, cost, runsCodeOf, ...intent }, n) => ({
    n,
    runs_code_of: runsCodeOf ?? null,
    kind: intent.kind,
    id: intent.id,
    waiting: intent.kind === "permit" ? intent.purchaseId : intent.id,
    to,
    data,
    value: String(value),
    gas_limit: String(gasLimit),
    cost: String(cost),
  }));
  const rows = await tx<{ id: string; intent: string; nonce: string }[]>`
    with calls as (
      select * from json_to_recordset(${JSON.stringify(calls)}::text::json) as c (
        n bigint, kind text, id uuid, waiting uuid, "to" text, data text, value numeric, gas_limit bigint, cost numeric,
        runs_code_of text)
    ), nonces as (
      update service.relayer_wallet set next_nonce = next_nonce + ${wanted.length}
      where ${leaseHeld(tx, lease)} and next_nonce is not null and fenced_with = pg_postmaster_start_time() and not exists (
        select 1 from service.relayer_wallet u
        where u.chain_id = ${lease.chainId}
          and (u.unknown_from is not null or ${isUncompared(tx, lease.chainId)})
          and ${holdsUp(tx, lease.address)})
      returning next_nonce - ${wanted.length} as first
    ), taken as (
      delete from service.waiting w using calls, nonces where w.intent = calls.id returning w.intent
    )
    insert into service.transaction (
      chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, delegation_id, "to", data, value, gas_limit,
      gas_reserved, runs_code_of)
    select ${lease.chainId}::integer, ${lease.address}::text, nonces.first + calls.n, calls.kind, calls.id, w.payer, client.wallet,
      p.quoted_premium, p.delegation_id, calls."to", calls.data, calls.value, calls.gas_limit, calls.cost,
      calls.runs_code_of
    from nonces, calls join service.waiting w on w.intent = calls.waiting
    left join service.purchase client on client.id = calls.waiting left join service.purchase p on p.id = calls.id
    order by calls.n
    returning id, intent, nonce`;
  if (rows.length === 0) {
    const held = await tx`select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)}`;
    throw held.length > 0 ? new NoncesWithheld() : new LeaseLost(lease);
  }
  const byIntent = new Map(rows.map((row) => [row.intent, row]));
  return wanted.map((one) => {
    const row = byIntent.get(one.id);
    // The candidates' rows are locked: they cannot be missing.
    if (!row) throw new Error(`${one.kind} ${one.id} no longer waits to be signed`);
    return { ...one, transactionId: Number(row.id), nonce: Number(row.nonce) };
  });
}

/** Longer than purchases usually stay open, in seconds: after their time to live they are replaced by empty transfers. */
const OPEN_SECONDS = 1800;

/**
 * The coverage of a chain's purchases that are open, or in a block above `block`, apart from some; 6 decimals. No payout is higher
 * than its coverage. A purchase that has been open for long may never be mined, and does not count.
 */
export async function coverInFlight(
  tx: TransactionSql,
  chainId: number,
  block: bigint,
  apartFrom: readonly string[],
): Promise<bigint> {
  const [row] = await tx<{ coverage: string }[]>`
    select coalesce(sum(p.coverage_amount), 0) as coverage
    from service.mined_up_to(${chainId}, ${String(block)}) seen
    cross join lateral service.transactions_from(${chainId}, seen.wallet, seen.nonce + 1) t
    join service.purchase p on p.id = t.intent
    where (t.state = 'open' and t.opened_at > now() - make_interval(secs => ${OPEN_SECONDS})
        or t.block_number > ${String(block)})
      and t.intent <> all(${[...apartFrom]}::uuid[])`;
  return BigInt(row?.coverage ?? 0);
}

/**
 * Takes a wallet's open transactions without signed bytes out of the ledger: bytes are stored before they are sent, so that
 * none of these can be mined. What they were for waits to be signed with another wallet; purchases that are too old are refused.
 * Should the wallet send again, the recovery fills their nonces.
 * @param pending the wallet's nonces that the node knows, also in its pool: the database may have lost the bytes of a lower one.
 * @returns their nonces.
 * @throws LeaseLost with nothing changed: only a writer with the lease can store bytes.
 */
export async function removeUnsigned(sql: Sql, lease: Lease, pending: number): Promise<number[]> {
  return sql.begin(async (tx) => {
    const held = await tx`select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)} for update`;
    if (held.length === 0) throw new LeaseLost(lease);
    // The day's gas counts changes of a reservation, not removed rows.
    const rows = await tx<{ id: string; nonce: string }[]>`
      update service.transaction t set gas_reserved = 0
      from service.relayer_wallet w
      cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) o
      where w.chain_id = ${lease.chainId} and w.address = ${lease.address} and t.id = o.id and t.state = 'open' and t.nonce >= ${pending}
        and not exists (select 1 from service.attempt a where a.transaction_id = t.id)
      returning t.id, t.nonce`;
    await tx`
      with given as (
        delete from service.transaction where id = any(${rows.map(({ id }) => id)}::text[]::bigint[])
        returning intent, kind, chain_id, payer
      ) ${waitAgain(tx)}`;
    // Should the wallet go on, a fence without them is none.
    await tx`
      update service.relayer_wallet set fence_with = null, fence_from = null, fence_below = null, fenced_with = null
      where ${leaseHeld(tx, lease)} and ${rows.length} > 0`;
    return rows.map(({ nonce }) => Number(nonce)).toSorted((a, b) => a - b);
  });
}
