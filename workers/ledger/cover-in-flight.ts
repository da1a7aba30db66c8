import type { TransactionSql } from "postgres";

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
