import type { Sql } from "postgres";
import type { ErrorCode } from "../../lib/errors.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { PURCHASE_CHANNEL } from "../../lib/ledger/waiter.ts";

/**
 * SQL of accepted purchases, for which nothing was signed yet. Rows are looked up by id one by one (`lateral … offset
 * 0`), because on a table without statistics Postgres would scan a partial index instead.
 */

/** A forgotten purchase that some writer has taken can be taken again after this time, in seconds. */
const TAKE_AGAIN_SECONDS = 5;

/** Takes accepted purchases of at least this age that were not signed after their last wake-up. */
export async function takeForgotten(
  sql: Sql,
  chainId: number,
  { minAgeSeconds, limit }: { minAgeSeconds: number; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update service.purchase set wake_at = now() + make_interval(secs => ${TAKE_AGAIN_SECONDS})
    where id in (
      select id from service.purchase
      where state = 'accepted' and chain_id = ${chainId} and wake_at <= now()
        and created_at <= now() - make_interval(secs => ${minAgeSeconds})
      order by wake_at limit ${limit} for update skip locked)
    returning id`;
  return rows.map((row) => row.id);
}

/** Lets the sweeper take an accepted purchase in `seconds`. */
export async function tryAgainIn(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql`
    update service.purchase set wake_at = now() + make_interval(secs => ${seconds})
    where id = ${id} and state = 'accepted'`;
}

/**
 * Fails a purchase that was not signed, and notifies its waiters. False, with nothing changed, when it was signed
 * meanwhile: the statement checks the state.
 */
export async function failUnsigned(
  sql: Sql,
  id: string,
  { code, message }: { code: ErrorCode; message: string },
): Promise<boolean> {
  const rows = await sql`
    with failed as (
      update service.purchase
      set state = 'failed', failure_code = ${code}, failure_message = ${message}, joinable = false,
        final_at = now(), updated_at = now()
      where id = ${id} and state = 'accepted' returning id)
    select pg_notify(${PURCHASE_CHANNEL}, id::text) from failed`;
  return rows.length > 0;
}

/** A purchase that waits to be signed; `age` in seconds by the database's clock. */
export type AcceptedPurchase = { id: string; request: PurchaseRequest; age: number };

/** The purchases with these ids that are still accepted, by id. */
export async function readAccepted(
  sql: Sql,
  chainId: number,
  ids: readonly string[],
): Promise<Map<string, AcceptedPurchase>> {
  type Row = Omit<PurchaseRequest, "coverageAmount"> & { coverageAmount: string; id: string; age: number };
  const rows = await sql<Row[]>`
    select id, product_id as "productId", coverage_amount as "coverageAmount", asset, buyer,
      extract(epoch from now() - created_at)::float8 as age
    from unnest(${[...ids]}::uuid[]) as wanted, lateral (
      select * from service.purchase p where p.id = wanted offset 0) p
    where state = 'accepted' and chain_id = ${chainId}`;
  return new Map(
    rows.map(({ id, age, coverageAmount, ...request }) => [
      id,
      { id, age, request: { ...request, coverageAmount: BigInt(coverageAmount) } },
    ]),
  );
}
