import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { Permit } from "../../lib/chain/permit.ts";
import type { ErrorCode } from "../../lib/errors.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";

/** SQL of purchases that wait to be signed. */

/** A purchase that was not signed within this time fails, in seconds: its client no longer waits. */
export const SIGN_WITHIN_SECONDS = 60;

/** A forgotten purchase that some writer has taken can be taken again after this time, in seconds. */
const TAKE_AGAIN_SECONDS = 5;

/** A waiting purchase that was not signed after its last wake-up; `overdue` when its client no longer waits. */
export type ForgottenPurchase = { id: string; overdue: boolean };

/** Takes forgotten purchases, or the overdue ones among them only. */
export async function takeForgotten(
  sql: Sql,
  chainId: number,
  { onlyOverdue, limit }: { onlyOverdue: boolean; limit: number },
): Promise<ForgottenPurchase[]> {
  return sql<ForgottenPurchase[]>`
    update service.waiting set wake_at = now() + make_interval(secs => ${TAKE_AGAIN_SECONDS})
    where intent in (
      select intent from service.waiting
      where kind = 'purchase' and chain_id = ${chainId} and wake_at <= now()
        and created_at <= now() - make_interval(secs => ${onlyOverdue ? SIGN_WITHIN_SECONDS : 0})
      order by wake_at limit ${limit} for update skip locked)
    returning intent as id, created_at <= now() - make_interval(secs => ${SIGN_WITHIN_SECONDS}) as overdue`;
}

/** Lets a writer look at waiting purchases, or service transactions, again in `seconds`. */
export async function lookAgainIn(sql: Sql, ids: readonly string[], seconds: number): Promise<void> {
  await sql`
    update service.waiting set wake_at = now() + make_interval(secs => ${seconds})
    where intent = any(${[...ids]}::uuid[])`;
}

/**
 * Fails a purchase for which nothing was signed, and notifies its waiters. False, with nothing changed, when it no longer
 * waits to be signed.
 */
export async function refusePurchase(
  sql: ISql,
  id: string,
  { code, message }: { code: ErrorCode; message: string },
): Promise<boolean> {
  const rows = await sql`
    with taken as (delete from service.waiting where intent = ${id} returning intent), refused as (
      update service.purchase p
      set failure_code = ${code}, failure_message = ${message}, refused_at = now(), answers_repeats = false
      from taken where p.id = taken.intent returning p.id)
    select service.announce('purchase', id) from refused`;
  return rows.length > 0;
}

type RequestRow = Omit<PurchaseRequest, "coverageAmount"> & { coverageAmount: string };
const requestOf = ({ productId, coverageAmount, asset, buyer }: RequestRow): PurchaseRequest => ({
  productId,
  coverageAmount: BigInt(coverageAmount),
  asset,
  buyer,
});

/** `unsent`: it has no transaction yet; `open`: it is not mined; `mined`: the chain has it, or its revert. */
export type WaitingPermit = { id: string; permit: Permit; state: "unsent" | "open" | "mined" };

/**
 * A purchase that waits to be signed. `quotedPremium`: what the router would have taken at its acceptance (6 decimals). `age`
 * and `unknownFor` are in seconds by the database's clock: since it was accepted, and since transactions of its chain are known
 * that the ledger lacks; null when there are none.
 */
export type WaitingPurchase = {
  id: string;
  client: Address;
  /** The idempotency key. */
  key: string | null;
  request: PurchaseRequest;
  quotedPremium: bigint;
  /** The permit that it came with. */
  permit: WaitingPermit | undefined;
  acceptedAt: Date;
  age: number;
  unknownFor: number | null;
};

/** Those of the purchases that wait to be signed, by id. */
export async function readWaiting(
  sql: Sql,
  chainId: number,
  ids: readonly string[],
): Promise<Map<string, WaitingPurchase>> {
  type Row = Omit<PurchaseRequest, "coverageAmount"> & {
    coverageAmount: string;
    quotedPremium: string;
    permit: (Omit<WaitingPermit, "permit"> & Record<keyof Permit, string> & { signature: Hex }) | null;
  } & Pick<WaitingPurchase, "id" | "client" | "key" | "acceptedAt" | "age" | "unknownFor">;
  const rows = await sql<Row[]>`
    select p.id, p.product_id as "productId", p.coverage_amount as "coverageAmount", p.asset, p.buyer,
      p.quoted_premium as "quotedPremium", (
        select json_build_object('id', m.id, 'value', m.value::text, 'deadline', m.deadline::text, 'signature', m.signature,
          'state', case when t.id is null then 'unsent' when t.state = 'open' then 'open' else 'mined' end)
        from service.permit m left join service.transaction t on t.intent = m.id and t.lost_to is null
        where m.purchase_id = p.id) as permit, w.created_at as "acceptedAt",
      p.wallet as client, p.idempotency_key as key, extract(epoch from now() - w.created_at)::float8 as age, (
        select extract(epoch from now() - max(u.unknown_since))::float8 from service.relayer_wallet u
        where u.chain_id = w.chain_id) as "unknownFor"
    from service.waiting w join service.purchase p on p.id = w.intent
    where w.intent = any(${[...ids]}::uuid[]) and w.chain_id = ${chainId}`;
  return new Map(
    rows.map(({ acceptedAt, age, unknownFor, quotedPremium, permit, ...row }) => [
      row.id,
      {
        id: row.id,
        client: row.client,
        key: row.key,
        request: requestOf(row),
        quotedPremium: BigInt(quotedPremium),
        permit: permit
          ? {
              id: permit.id,
              state: permit.state,
              permit: {
                value: BigInt(permit.value),
                deadline: BigInt(permit.deadline),
                signature: permit.signature,
              },
            }
          : undefined,
        acceptedAt,
        age,
        unknownFor,
      },
    ]),
  );
}
