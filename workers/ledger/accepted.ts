import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import { PURCHASE_CHANNEL } from "../../lib/ledger/wait.ts";

/**
 * SQL over purchases for which nothing was signed yet. Rows that are named by their ids are looked up one by one (`lateral …
 * offset 0`): on tables without statistics yet, Postgres would rather walk through a partial index.
 */

/** A purchase that was given out is given out again after so many seconds at the earliest, whichever writer asks. */
const EVERY_SECONDS = 5;

/** Accepted purchases of at least this age whose last wake-up led nowhere. */
export async function takeForgotten(
  sql: Sql,
  chainId: number,
  { minAgeSeconds, limit }: { minAgeSeconds: number; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    update service.purchase set wake_at = now() + make_interval(secs => ${EVERY_SECONDS})
    where id in (
      select id from service.purchase
      where state = 'accepted' and chain_id = ${chainId} and wake_at <= now()
        and created_at <= now() - make_interval(secs => ${minAgeSeconds})
      order by wake_at limit ${limit} for update skip locked)
    returning id`;
  return rows.map((row) => row.id);
}

/** Lets the sweeper find an accepted purchase in `seconds`. */
export async function tryAgainIn(sql: Sql, id: string, seconds: number): Promise<void> {
  await sql`
    update service.purchase set wake_at = now() + make_interval(secs => ${seconds})
    where id = ${id} and state = 'accepted'`;
}

/**
 * Fails a purchase of which nothing was signed, and says so to whoever waits. The state is checked in the statement: a
 * purchase that was signed meanwhile is left alone.
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

type AcceptedRow = {
  id: string;
  product_id: Hex;
  coverage_amount: string;
  asset: Hex;
  buyer: Address;
  age: number;
};

/** Those of the purchases that still wait to be signed, by id: the others have moved on. */
export async function readAccepted(
  sql: Sql,
  chainId: number,
  ids: readonly string[],
): Promise<Map<string, AcceptedPurchase>> {
  const rows = await sql<AcceptedRow[]>`
    select id, product_id, coverage_amount, asset, buyer, extract(epoch from now() - created_at)::float8 as age
    from unnest(${[...ids]}::uuid[]) as wanted, lateral (
      select * from service.purchase p where p.id = wanted offset 0) p
    where state = 'accepted' and chain_id = ${chainId}`;
  return new Map(
    rows.map(({ id, product_id, coverage_amount, asset, buyer, age }) => [
      id,
      { id, age, request: { productId: product_id, coverageAmount: BigInt(coverage_amount), asset, buyer } },
    ]),
  );
}
