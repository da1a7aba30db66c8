import type { TransactionSql } from "postgres";

/**
 * The coverage of a chain's purchases that are open, or in a block above `block`, apart from some; 6 decimals. No payout is
 * higher than its coverage. A wallet's nonces are mined in their order, so its newest one in a block up to `block` bounds the
 * search.
 */
export async function coverInFlight(
  tx: TransactionSql,
  chainId: number,
  block: bigint,
  apartFrom: readonly string[],
): Promise<bigint> {
  const [row] = await tx<{ coverage: string }[]>`
    select coalesce(sum(p.coverage_amount), 0) as coverage
    from service.relayer_wallet w, lateral (
      select coalesce((select x.nonce from service.transaction x
        where x.chain_id = w.chain_id and x.wallet = w.address and x.nonce < w.open_from
          and x.block_number <= ${String(block)}
        order by x.nonce desc limit 1), -1) as nonce) mined
    join service.transaction t on t.nonce > mined.nonce
    join service.purchase p on p.id = t.intent
    where w.chain_id = ${chainId} and t.chain_id = w.chain_id and t.wallet = w.address
      and (t.state = 'open' or t.block_number > ${String(block)})
      and t.intent <> all(${[...apartFrom]}::uuid[])`;
  return BigInt(row?.coverage ?? 0);
}
