import type { Sql } from "postgres";

/** Figures of sandbox and faucet; ages are in seconds by the database's clock. */

/** Why the service sends transactions of its own. */
export const serviceTransactionPurposes = [
  "faucet_ether",
  "faucet_usdc",
  "sandbox_ether",
  "sandbox_usdc",
  "sandbox_approval",
] as const;
export type ServiceTransactionPurpose = (typeof serviceTransactionPurposes)[number];

/** Numbers of service transactions of one purpose: without a nonce, not mined of the last 24 hours, failed in those hours. */
export type PurposeFigures = {
  purpose: ServiceTransactionPurpose;
  waiting: number;
  inFlight: number;
  failed: number;
};
/** `oldest` is the age of the oldest service transaction that is not signed, null when there is none. */
export type ServiceTransactionFigures = { purposes: readonly PurposeFigures[]; oldest: number | null };

/** Returns a row for every purpose, also for one without service transactions. */
export async function serviceTransactionFigures(
  sql: Sql,
  chainId: number,
): Promise<ServiceTransactionFigures> {
  const rows = await sql<(PurposeFigures & { oldest: number | null })[]>`
    with e as (
      select s.purpose, 'waiting' as stage, w.created_at
      from service.waiting w join service.service_transaction s on s.id = w.intent where w.chain_id = ${chainId}
      union all
      select s.purpose, case t.state when 'open' then 'open' else t.outcome end, t.created_at
      from service.transaction t join service.service_transaction s on s.id = t.intent
      where t.chain_id = ${chainId} and t.created_at > now() - interval '24 hours' and t.lost_to is null
      union all
      select purpose, 'reverted', created_at from service.service_transaction
      where chain_id = ${chainId} and refused_at > now() - interval '24 hours')
    select p.purpose, (count(*) filter (where e.stage = 'waiting'))::int as waiting,
      (count(*) filter (where e.stage = 'open'))::int as "inFlight",
      (count(*) filter (where e.stage = 'reverted'))::int as failed,
      extract(epoch from now() - min(e.created_at) filter (where e.stage = 'waiting'))::float8 as oldest
    from unnest(${[...serviceTransactionPurposes]}::text[]) with ordinality p (purpose, place)
    left join e on e.purpose = p.purpose
    group by p.purpose, p.place order by p.place`;
  const ages = rows.flatMap(({ oldest }) => (oldest === null ? [] : [oldest]));
  return {
    purposes: rows.map(({ oldest: _, ...purpose }) => purpose),
    oldest: ages.length > 0 ? Math.max(...ages) : null,
  };
}

/** The sandbox's wallet at its last check: USDC base units (6 decimals), and whether it could buy. */
export type SandboxFigures = { usdc: bigint; allowance: bigint; canBuy: boolean; age: number };

/** The wallet that was checked last; undefined when no wallet was checked yet. */
export async function sandboxFigures(sql: Sql, chainId: number): Promise<SandboxFigures | undefined> {
  const [row] = await sql<{ usdc: string; allowance: string; canBuy: boolean; age: number }[]>`
    select usdc::text, allowance::text, can_buy as "canBuy", extract(epoch from now() - checked_at)::float8 as age
    from service.sandbox_wallet where chain_id = ${chainId} order by checked_at desc limit 1`;
  return row && { ...row, usdc: BigInt(row.usdc), allowance: BigInt(row.allowance) };
}

export type FaucetFigures = { claimsToday: number; claimsOpen: number };

/** The claims that count for the UTC day, and the claims with a transfer that is not mined yet. */
export async function faucetFigures(sql: Sql, chainId: number): Promise<FaucetFigures> {
  const [row] = await sql<FaucetFigures[]>`
    select
      coalesce((select claims from service.faucet_day
        where chain_id = ${chainId} and day = (now() at time zone 'utc')::date), 0) as "claimsToday",
      (select count(distinct e.claim_id)::int from service.service_transaction e
        where e.id in (select intent from service.waiting where chain_id = ${chainId}
          union all select t.intent from service.relayer_wallet w
            join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
            where w.chain_id = ${chainId})) as "claimsOpen"`;
  return row ?? { claimsToday: 0, claimsOpen: 0 };
}
