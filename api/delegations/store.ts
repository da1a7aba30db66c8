/** Delegations: how a buyer signs one, and their rows. */
import type { ISql, Sql } from "postgres";
import { type Address, getAddress, type Hex, hashTypedData } from "viem";
import { lower } from "../../lib/lower.ts";
import { lockBuyer } from "../buying/refusal-reasons.ts";

/** What a buyer signs (EIP-712), together with the chain's id and the cover router's address as the domain. */
export const delegationTypes = {
  Delegation: [
    { name: "buyer", type: "address" },
    { name: "agent", type: "address" },
    { name: "totalPremiumCap", type: "uint256" },
    { name: "expiry", type: "uint256" },
    { name: "nonce", type: "uint256" },
  ],
} as const;

/** `totalPremiumCap` in USDC base units (6 decimals), `expiry` in Unix seconds. The nonce only distinguishes two delegations. */
export type DelegationTerms = {
  buyer: Address;
  agent: Address;
  totalPremiumCap: bigint;
  expiry: bigint;
  nonce: bigint;
};

export type DelegationDomain = { chainId: number; verifyingContract: Address };

/** The hash that the buyer signs. */
export const delegationDigest = (domain: DelegationDomain, message: DelegationTerms): Hex =>
  hashTypedData({ domain, types: delegationTypes, primaryType: "Delegation", message });

export const delegationStatuses = ["active", "exhausted", "expired", "revoked"] as const;
export type DelegationStatus = (typeof delegationStatuses)[number];

/** A delegation now; premiums in USDC base units (6 decimals), addresses checksummed. */
export type Delegation = DelegationTerms & {
  id: number;
  status: DelegationStatus;
  /** The premiums of mined purchases and of those in flight. */
  premiumSpent: bigint;
  createdAt: Date;
  revokedAt: Date | null;
};

type Row = Omit<Delegation, "totalPremiumCap" | "expiry" | "nonce" | "premiumSpent"> &
  Record<"totalPremiumCap" | "expiry" | "nonce" | "premiumSpent", string>;

const columns = (sql: ISql) => sql`
  id::float8 as id, buyer, agent, total_premium_cap as "totalPremiumCap",
  extract(epoch from expires_at)::bigint as expiry, nonce, premium_spent as "premiumSpent",
  created_at as "createdAt", revoked_at as "revokedAt",
  case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired'
    when total_premium_cap <= premium_spent then 'exhausted' else 'active' end as status`;

const delegationOf = (row: Row): Delegation => ({
  ...row,
  buyer: getAddress(row.buyer),
  agent: getAddress(row.agent),
  totalPremiumCap: BigInt(row.totalPremiumCap),
  expiry: BigInt(row.expiry),
  nonce: BigInt(row.nonce),
  premiumSpent: BigInt(row.premiumSpent),
});

/**
 * Records a delegation after the buyer's signature was verified. A digest is accepted once: of terms that were recorded before it
 * returns that delegation, even if it was revoked since.
 */
export async function recordDelegation(
  sql: Sql,
  domain: DelegationDomain,
  terms: DelegationTerms,
): Promise<{ delegation: Delegation; isNew: boolean }> {
  const digest = delegationDigest(domain, terms);
  const [recorded] = await sql<Row[]>`
    insert into service.delegation (chain_id, router, buyer, agent, total_premium_cap, expires_at, nonce, digest)
    values (${domain.chainId}, ${lower(domain.verifyingContract)}, ${lower(terms.buyer)}, ${lower(terms.agent)},
      ${String(terms.totalPremiumCap)}, ${new Date(Number(terms.expiry) * 1000)}, ${String(terms.nonce)},
      ${digest})
    on conflict do nothing returning ${columns(sql)}`;
  if (recorded) return { delegation: delegationOf(recorded), isNew: true };
  const [earlier] = await sql<Row[]>`select ${columns(sql)} from service.delegation where digest = ${digest}`;
  if (!earlier) throw new Error("the database has no delegation with a digest that it refused");
  return { delegation: delegationOf(earlier), isNew: false };
}

/** A page of the delegations from or to a wallet for this router, newest first, and how many there are. */
export async function listDelegations(
  sql: Sql,
  { wallet, domain }: { wallet: Address; domain: DelegationDomain },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ delegations: Delegation[]; total: number }> {
  const ofWallet = sql`from service.delegation
    where chain_id = ${domain.chainId} and router = ${lower(domain.verifyingContract)}
      and (buyer = ${lower(wallet)} or agent = ${lower(wallet)})`;
  const [rows, [count]] = await Promise.all([
    sql<
      Row[]
    >`select ${columns(sql)} ${ofWallet} order by delegation.id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total ${ofWallet}`,
  ]);
  return { delegations: rows.map(delegationOf), total: count?.total ?? 0 };
}

/**
 * Revokes a buyer's delegation: purchases signed under it continue, and purchases only accepted fail. It takes the buyer's
 * lock, so that no acceptance that began before is recorded after it. Idempotent: a second call keeps and returns the time
 * of the first.
 * @returns undefined when this buyer has no such delegation
 */
export async function revokeDelegation(
  sql: Sql,
  delegationId: number,
  { buyer, chain }: { buyer: Address; chain: number },
): Promise<Date | undefined> {
  return sql.begin(async (tx) => {
    await lockBuyer(tx, chain, buyer);
    const [row] = await tx<{ revokedAt: Date }[]>`
      update service.delegation set revoked_at = coalesce(revoked_at, now())
      where id = ${delegationId} and buyer = ${lower(buyer)} and chain_id = ${chain}
      returning revoked_at as "revokedAt"`;
    return row?.revokedAt;
  });
}
