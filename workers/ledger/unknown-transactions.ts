import type { Fragment, ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { lower } from "../../lib/lower.ts";
import type { Call } from "./assign-nonces.ts";
import { isUncompared } from "./fillers.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";
import type { Form } from "./transactions.ts";

/**
 * SQL of unknown transactions: those that the chain has from a wallet of the service, and the ledger does not. While one
 * wallet has an unknown transaction, all wallets of that chain get no nonce, but the keeper's: it waits for its own ones.
 */

/**
 * Compares the ledger with the chain's `pending` count of a wallet's transactions, which was read before.
 * @returns the unknown nonces when there are more than were known before: from the first to below the last.
 */
export async function noteUnknown(
  sql: Sql,
  chainId: number,
  wallet: Address,
  pending: number,
): Promise<{ from: number; below: number } | undefined> {
  const [row] = await sql<{ from: number; below: number }[]>`
    update service.relayer_wallet
    set unknown_from = coalesce(unknown_from, next_nonce), unknown_below = ${pending}, unknown_since = coalesce(unknown_since, now())
    where chain_id = ${chainId} and address = ${wallet} and greatest(next_nonce, unknown_below) < ${pending}
    returning unknown_from::float8 as from, unknown_below::float8 as below`;
  return row;
}

/** The wallets of a chain that some writer holds, and whose nonces have begun. */
export async function heldWallets(sql: Sql, chainId: number): Promise<Address[]> {
  const rows = await sql<{ address: Address }[]>`
    select address from service.relayer_wallet
    where chain_id = ${chainId} and lease_until > now() and next_nonce is not null`;
  return rows.map(({ address }) => address);
}

/**
 * SQL condition on a wallet `u` with unknown transactions: `sender`, an address or a column with one, has to wait for them. A trigger
 * can be paid for an hour only, and does no harm when it is sent twice.
 */
export const holdsUp = (sql: ISql, sender: Address | Fragment) => sql`(
  u.address = ${sender} or not exists (
    select 1 from service.relayer_wallet k where k.chain_id = u.chain_id and k.address = ${sender} and k.role = 'keeper'))`;

/** Whether a wallet of the chain has unknown transactions, or may have, because nobody has compared it. */
export async function mayHaveUnknown(sql: Sql, chainId: number): Promise<boolean> {
  const rows = await sql`
    select 1 from service.relayer_wallet u
    where u.chain_id = ${chainId} and (u.unknown_from is not null or ${isUncompared(sql, chainId)}) limit 1`;
  return rows.length > 0;
}

/** The next nonce, null before the first start; and the nonce below which unknown ones lie, null when there are none. */
export async function readNonces(
  sql: Sql,
  chainId: number,
  wallet: Address,
): Promise<{ next: number | null; unknownBelow: number | null }> {
  const [row] = await sql<{ next: number | null; unknownBelow: number | null }[]>`
    select next_nonce::float8 as next, unknown_below::float8 as "unknownBelow" from service.relayer_wallet
    where chain_id = ${chainId} and address = ${wallet}`;
  if (!row) throw new Error(`the ledger has no wallet ${wallet}`);
  return row;
}

/** A purchase that waits to be signed, or its permit: its own id, and the purchase's with its client and idempotency key. */
export type WaitingIntent = { id: string; purchaseId: string; client: Address; key: string | null };

/** The purchases with this content that wait to be signed, the oldest first. */
export async function waitingPurchases(
  sql: Sql,
  chainId: number,
  { productId, coverageAmount, asset, buyer }: PurchaseRequest,
): Promise<WaitingIntent[]> {
  return sql<WaitingIntent[]>`
    select p.id, p.id as "purchaseId", p.wallet as client, p.idempotency_key as key
    from service.waiting w join service.purchase p on p.id = w.intent
    where w.chain_id = ${chainId} and p.product_id = ${productId} and p.asset = ${asset} and p.buyer = ${lower(buyer)}
      and p.coverage_amount = ${String(coverageAmount)}::numeric
    order by w.created_at, p.id`;
}

/** The permits of an owner that were not sent, of purchases that wait to be signed, the oldest first. */
export async function unsentPermits(sql: Sql, chainId: number, owner: Address): Promise<WaitingIntent[]> {
  return sql<WaitingIntent[]>`
    select m.id, p.id as "purchaseId", p.wallet as client, p.idempotency_key as key
    from service.waiting w join service.purchase p on p.id = w.intent join service.permit m on m.purchase_id = p.id
    where w.chain_id = ${chainId} and w.payer = ${lower(owner)} and not exists (
      select 1 from service.transaction t where t.intent = m.id and t.lost_to is null)
    order by w.created_at, m.id`;
}

/** The service transactions of the wallet to an address that wait to be signed, the oldest first. */
export async function waitingCalls(
  sql: Sql,
  { chainId, address }: Pick<Lease, "chainId" | "address">,
  { to, value }: Pick<Call, "to" | "value">,
): Promise<{ id: string; data: Hex }[]> {
  return sql<{ id: string; data: Hex }[]>`
    select e.id, e.data from service.waiting w join service.service_transaction e on e.id = w.intent
    where w.chain_id = ${chainId} and e.sender = ${address} and e."to" = ${to} and e.value = ${String(value)}::numeric
    order by w.created_at, e.id`;
}

/** The role of a wallet of the service; undefined for any other. */
export async function roleOf(sql: Sql, chainId: number, address: Address): Promise<WalletRole | undefined> {
  const [row] = await sql<{ role: WalletRole }[]>`
    select role from service.relayer_wallet where chain_id = ${chainId} and address = ${lower(address)}`;
  return row?.role;
}

/** Locks a wallet that has this unknown nonce; the watermarks no longer hide the transaction that is stored for it. */
const lockUnknown = (sql: ISql, nonce: number) => sql`
  update service.relayer_wallet set open_from = least(open_from, ${nonce}), final_below = least(final_below, ${nonce})
  where ${nonce} >= unknown_from and ${nonce} < unknown_below`;

/** The signed form of a transaction that was found, and its intent; null for a filler. */
export type MatchedForm = Pick<Form, "signed" | "cost"> & { intent: string | null; call: Call };

/**
 * Records an unknown transaction with its signed form: as that of the purchase, service transaction or permit `intent`, or as a
 * filler: a call that does no harm. A purchase or service transaction no longer waits then; a permit's purchase
 * does. Rejects, with nothing stored, when the nonce has been recorded meanwhile.
 * @returns false, with nothing stored, without the lease, or when the intent no longer waits.
 */
export async function recordUnknown(
  sql: Sql,
  lease: Lease,
  { nonce, intent, call, signed, cost }: MatchedForm & { nonce: number },
): Promise<boolean> {
  const rows = await sql`
    with wallet as (${lockUnknown(sql, nonce)} and ${leaseHeld(sql, lease)} returning chain_id, address), waiting as (
      select w.intent as waits, w.payer, coalesce(m.id, w.intent) as intent,
        case when m.id is null then w.kind else 'permit' end as kind
      from service.waiting w left join service.permit m on m.purchase_id = w.intent and m.id = ${intent}
      where w.intent = ${intent} or w.intent = (select purchase_id from service.permit where id = ${intent})
      for update of w
    ), taken as (
      delete from service.waiting w using wallet, waiting where w.intent = waiting.intent
    ), added as (
      insert into service.transaction (
        chain_id, wallet, nonce, kind, intent, payer, client, quoted_premium, delegation_id, "to", data, value, gas_limit,
        gas_reserved)
      select wallet.chain_id, wallet.address, ${nonce}::bigint, coalesce(waiting.kind, 'filler'), waiting.intent,
        waiting.payer, client.wallet, p.quoted_premium, p.delegation_id, ${call.to}::text, ${call.data}::text,
        ${String(call.value)}::numeric, ${String(call.gasLimit)}::bigint, ${String(cost)}::numeric
      from wallet left join waiting on true left join service.purchase client on client.id = waiting.waits
      left join service.purchase p on p.id = waiting.intent
      where waiting.intent is not distinct from ${intent}::uuid
      returning id
    )
    insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token, last_broadcast_at)
    select ${signed.hash}, id, ${signed.bytes}, ${String(signed.maxFee)}::numeric, ${String(signed.priorityFee)}::numeric,
      ${lease.token}::bigint, null from added
    returning hash`;
  return rows.length > 0;
}

/**
 * Takes an unknown transaction for one of another program: the ledger steps over its nonce. The operator alone decides so.
 * @returns false when the nonce is not unknown.
 */
export async function acceptForeign(
  sql: Sql,
  { chainId, wallet, nonce, hash }: { chainId: number; wallet: Address; nonce: number; hash: Hex },
): Promise<boolean> {
  const rows = await sql`
    with wallet as (
      ${lockUnknown(sql, nonce)} and chain_id = ${chainId} and address = ${wallet} returning chain_id, address
    )
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, lost_to)
    select chain_id, address, ${nonce}::bigint, 'filler', address, '0x', 21000, ${hash} from wallet
    on conflict (chain_id, wallet, nonce) do nothing returning id`;
  return rows.length > 0;
}

/**
 * Gives unknown nonces from `pending` on, which the chain has no transaction for any more, to empty transfers; the recovery signs them.
 * Whichever is mined tells what they were.
 */
export async function fillUnknown(
  sql: Sql,
  lease: Lease,
  pending: number,
  { to, data, gasLimit }: Call,
): Promise<void> {
  await sql`
    with wallet as (
      update service.relayer_wallet set next_nonce = greatest(next_nonce, unknown_below),
        open_from = least(open_from, greatest(unknown_from, ${pending})), final_below = least(final_below, greatest(unknown_from, ${pending}))
      where ${leaseHeld(sql, lease)} and unknown_below > ${pending} returning *
    )
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
    select chain_id, address, n, 'filler', ${to}, ${data}, ${String(gasLimit)}::bigint
    from wallet, generate_series(greatest(unknown_from, ${pending}), unknown_below - 1) n
    on conflict (chain_id, wallet, nonce) do nothing`;
}

/**
 * Deletes an empty transfer that lost its nonce to another transaction of the wallet, in a deep block, and notes that nonce as unknown.
 * Does nothing without the lease.
 */
export async function noteTaken(sql: Sql, lease: Lease, transactionId: number): Promise<void> {
  await sql.begin(async (tx) => {
    const [wallet] = await tx<{ nonce: string }[]>`
      select t.nonce from service.relayer_wallet w
      join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address and t.id = ${transactionId}
      where (w.chain_id, w.address) in (select chain_id, address from service.relayer_wallet where ${leaseHeld(tx, lease)})
        and t.kind = 'filler' and t.state = 'open' for update of w`;
    if (!wallet) return;
    const nonce = Number(wallet.nonce);
    // The day's gas counts changes of a reservation, not removed rows.
    await tx`update service.transaction set gas_reserved = 0 where id = ${transactionId}`;
    await tx`delete from service.attempt where transaction_id = ${transactionId}`;
    await tx`delete from service.transaction where id = ${transactionId}`;
    // More may have been lost than this fence took: the next one begins above it.
    await tx`
      update service.relayer_wallet
      set unknown_from = least(unknown_from, ${nonce}), unknown_below = greatest(unknown_below, ${nonce + 1}),
        unknown_since = coalesce(unknown_since, now()), compared_with = null, fenced_with = null, fence_with = null, fence_from = null,
        fence_below = null
      where ${leaseHeld(tx, lease)}`;
  });
}

/**
 * Lets the wallet give nonces out again, above the unknown ones, when all of these are recorded, and empty transfers among them mined.
 * @returns false while one is not.
 * @throws LeaseLost
 */
export async function endUnknown(sql: Sql, lease: Lease): Promise<boolean> {
  const [row] = await sql<{ ended: boolean }[]>`
    with held as (select * from service.relayer_wallet where ${leaseHeld(sql, lease)} for update), ended as (
      update service.relayer_wallet w
      set next_nonce = greatest(w.next_nonce, w.unknown_below), unknown_from = null, unknown_below = null, unknown_since = null
      from held
      where w.chain_id = held.chain_id and w.address = held.address and not exists (
        select 1 from generate_series(held.unknown_from, held.unknown_below - 1) n where not exists (
          select 1 from service.transaction t where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n
            and not (t.kind = 'filler' and t.state = 'open')))
      returning w.address
    )
    select exists (select 1 from ended) as ended from held`;
  if (!row) throw new LeaseLost(lease);
  return row.ended;
}
