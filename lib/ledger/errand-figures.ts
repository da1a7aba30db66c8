import type { Sql } from "postgres";

/** What is counted of sandbox and faucet; ages are seconds by the ledger's own clock. */

/** Why the service calls a contract, or pays somebody, for itself. */
export const errandPurposes = [
  "faucet_ether",
  "faucet_usdc",
  "sandbox_ether",
  "sandbox_usdc",
  "sandbox_approval",
] as const;
export type ErrandPurpose = (typeof errandPurposes)[number];

/** Errands of one purpose: not signed yet, signed and in no block, failed in the last 24 hours. */
export type PurposeFigures = { purpose: ErrandPurpose; waiting: number; inFlight: number; failed: number };
/** `oldest` is the age of the oldest errand that nothing is signed of, null when there is none. */
export type ErrandFigures = { purposes: readonly PurposeFigures[]; oldest: number | null };

/** Every purpose is there, also one without errands. */
export async function errandFigures(sql: Sql, chainId: number): Promise<ErrandFigures> {
  const rows = await sql<(PurposeFigures & { oldest: number | null })[]>`
    with e as (
      select purpose, state, created_at from service.errand
      where chain_id = ${chainId} and state in ('accepted', 'signed', 'broadcast')
      union all
      select purpose, state, created_at from service.errand
      where chain_id = ${chainId} and state = 'failed' and updated_at > now() - interval '24 hours')
    select p.purpose, (count(*) filter (where e.state = 'accepted'))::int as waiting,
      (count(*) filter (where e.state in ('signed', 'broadcast')))::int as "inFlight",
      (count(*) filter (where e.state = 'failed'))::int as failed,
      extract(epoch from now() - min(e.created_at) filter (where e.state = 'accepted'))::float8 as oldest
    from unnest(${[...errandPurposes]}::text[]) with ordinality p (purpose, place)
    left join e on e.purpose = p.purpose
    group by p.purpose, p.place order by p.place`;
  const ages = rows.flatMap(({ oldest }) => (oldest === null ? [] : [oldest]));
  return {
    purposes: rows.map(({ oldest: _, ...purpose }) => purpose),
    oldest: ages.length > 0 ? Math.max(...ages) : null,
  };
}

/** The sandbox's wallet as it was last checked: USDC base units (6 decimals), and whether it could buy. */
export type SandboxFigures = { usdc: bigint; allowance: bigint; canBuy: boolean; age: number };

/** Of the wallet that was checked last; undefined when none ever was. */
export async function sandboxFigures(sql: Sql, chainId: number): Promise<SandboxFigures | undefined> {
  const [row] = await sql<{ usdc: string; allowance: string; canBuy: boolean; age: number }[]>`
    select usdc::text, allowance::text, can_buy as "canBuy", extract(epoch from now() - checked_at)::float8 as age
    from service.sandbox_wallet where chain_id = ${chainId} order by checked_at desc limit 1`;
  return row && { ...row, usdc: BigInt(row.usdc), allowance: BigInt(row.allowance) };
}

export type FaucetFigures = { claimsToday: number; claimsOpen: number };

/** The claims that count for the UTC day, and those of which a transfer is in no block yet. */
export async function faucetFigures(sql: Sql, chainId: number): Promise<FaucetFigures> {
  const [row] = await sql<FaucetFigures[]>`
    select
      coalesce((select claims from service.faucet_day
        where chain_id = ${chainId} and day = (now() at time zone 'utc')::date), 0) as "claimsToday",
      (select count(distinct claim_id)::int from service.errand
        where chain_id = ${chainId} and state in ('accepted', 'signed', 'broadcast')) as "claimsOpen"`;
  return row ?? { claimsToday: 0, claimsOpen: 0 };
}
