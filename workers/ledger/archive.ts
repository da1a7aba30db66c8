import type { Sql } from "postgres";

/** Purchases of one batch, mined and refused ones each: one transaction of the database moves them. */
const BATCH = 200;

/**
 * Archives a batch of a chain's purchases that have been final for this many days. They answer as before. Any number of
 * writers may do so at once.
 * @returns how many were archived.
 */
export async function archivePurchases(sql: Sql, chainId: number, days: number): Promise<number> {
  const [row] = await sql<{ archived: number }[]>`
    select service.archive_purchases(${chainId}, now() - make_interval(days => ${days}), ${BATCH}) as archived`;
  return row?.archived ?? 0;
}
