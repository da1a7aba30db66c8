import type { TransactionSql } from "postgres";

/**
 * The coverage of a chain's purchases that are open, or in a block above `block`, apart from some; 6 decimals. No payout is
 * higher than its coverage. A wallet's nonces are mined in their order, so its newest one in a block up to `block` bounds the
 * search; the upper bound lets Postgres expect few rows.
 */
export async function coverInFlight(
  tx: TransactionSql,
  chainId: number,
  block: bigint,
  apartFrom: readonly string[],
): Promise<bigint> {
  const [row] = await tx<{ coverage: string }[]>`
    with wallets as materialized (
      select w.chain_id, w.address, w.next_nonce, coalesce((
        select x.nonce from service.transaction x
        where x.chain_id = w.chain_id and x.wallet = w.address and x.nonce < w.open_from
          and x.block_number <= ${String(block)}
        order by x.nonce desc limit 1), -1) as mined
      from service.relayer_wallet w where w.chain_id = ${chainId})
    select coalesce(sum((select p.coverage_amount from service.purchase p where p.id = t.intent)), 0) as coverage
    from wallets w, lateral (
      select x.intent from service.transaction x
      where x.chain_id = w.chain_id and x.wallet = w.address and x.nonce > w.mined and x.nonce < w.next_nonce
        and (x.state = 'open' or x.block_number > ${String(block)})
      offset 0) t
    where t.intent <> all(${[...apartFrom]}::uuid[])`;
  return BigInt(row?.coverage ?? 0);
}
