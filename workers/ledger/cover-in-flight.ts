import type { TransactionSql } from "postgres";
import type { Lease } from "./leases.ts";

/** Longer than purchases usually stay open, in seconds: after their time to live they are replaced by empty transfers. */
const OPEN_SECONDS = 1800;

/**
 * The coverage of a chain's purchases that are open, or in a block above `block`, apart from some (`inFlight`), and of those that
 * the rounds of other wallets plan besides; 6 decimals. No payout is higher than its coverage. A purchase that has been open for
 * long may never be mined, and does not count.
 */
export async function coverInFlight(
  tx: TransactionSql,
  { chainId, address }: Lease,
  block: bigint,
  apartFrom: readonly string[],
): Promise<{ inFlight: bigint; planned: bigint }> {
  const [row] = await tx<{ inFlight: string; planned: string }[]>`
    select coalesce(sum(p.coverage_amount), 0) as "inFlight",
      (select coalesce(sum(r.coverage), 0) from service.plans_of_others(${chainId}, ${address}) r) as planned
    from service.mined_up_to(${chainId}, ${String(block)}) seen
    cross join lateral service.transactions_from(${chainId}, seen.wallet, seen.nonce + 1) t
    join service.purchase p on p.id = t.intent
    where (t.state = 'open' and t.opened_at > now() - make_interval(secs => ${OPEN_SECONDS})
        or t.block_number > ${String(block)})
      and t.intent <> all(${[...apartFrom]}::uuid[])`;
  return { inFlight: BigInt(row?.inFlight ?? 0), planned: BigInt(row?.planned ?? 0) };
}
