/** Leaves of buyers to agents: how one is signed, and the rows that stand for them. */
import { and, desc, eq, or, type SQL, sql } from "drizzle-orm";
import { type Address, getAddress, type Hex, hashTypedData } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import { delegationTable } from "../../lib/db/service.schema.ts";
import { lower } from "../../lib/lower.ts";
import { lockBuyer } from "../buying/guards.ts";

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

/** `totalPremiumCap` in USDC base units (6 decimals), `expiry` in Unix seconds. The nonce only tells two leaves apart. */
export type DelegationTerms = {
  buyer: Address;
  agent: Address;
  totalPremiumCap: bigint;
  expiry: bigint;
  nonce: bigint;
};

export type DelegationDomain = { chainId: number; verifyingContract: Address };

/** The hash that the buyer's signature is of. */
export const delegationDigest = (domain: DelegationDomain, message: DelegationTerms): Hex =>
  hashTypedData({ domain, types: delegationTypes, primaryType: "Delegation", message });

export const delegationStatuses = ["active", "exhausted", "expired", "revoked"] as const;
export type DelegationStatus = (typeof delegationStatuses)[number];

/** A delegation as it stands now; premiums in USDC base units (6 decimals), addresses checksummed. */
export type Delegation = DelegationTerms & {
  id: number;
  status: DelegationStatus;
  /** Of purchases that were mined, and of those on their way. */
  premiumSpent: bigint;
  createdAt: Date;
  revokedAt: Date | null;
};

const status = sql<DelegationStatus>`case
  when ${delegationTable.revokedAt} is not null then 'revoked'
  when ${delegationTable.expiresAt} <= now() then 'expired'
  when ${delegationTable.totalPremiumCap} <= ${delegationTable.premiumSpent} then 'exhausted'
  else 'active' end`;

const {
  id,
  chainId,
  router,
  buyer,
  agent,
  totalPremiumCap,
  expiresAt,
  nonce,
  createdAt,
  revokedAt,
  premiumSpent,
} = delegationTable;
const columns = {
  id,
  buyer,
  agent,
  totalPremiumCap,
  expiresAt,
  nonce,
  createdAt,
  revokedAt,
  status,
  premiumSpent,
};

const select = (db: Pick<Database, "select">, where: SQL | undefined) =>
  db.select(columns).from(delegationTable).where(where);

function delegationOf({
  expiresAt: expires,
  ...row
}: Awaited<ReturnType<typeof select>>[number]): Delegation {
  return {
    ...row,
    buyer: getAddress(row.buyer),
    agent: getAddress(row.agent),
    expiry: BigInt(expires.getTime()) / 1000n,
  };
}

/**
 * Records a delegation whose signature was found to be the buyer's.
 * @returns undefined when the same terms were recorded before, be it that they were revoked since: a digest counts once
 */
export async function recordDelegation(
  db: Database,
  domain: DelegationDomain,
  terms: DelegationTerms,
): Promise<Delegation | undefined> {
  const [row] = await db
    .insert(delegationTable)
    .values({
      chainId: domain.chainId,
      router: lower(domain.verifyingContract),
      buyer: lower(terms.buyer),
      agent: lower(terms.agent),
      totalPremiumCap: terms.totalPremiumCap,
      expiresAt: new Date(Number(terms.expiry) * 1000),
      nonce: terms.nonce,
      digest: delegationDigest(domain, terms),
    })
    .onConflictDoNothing()
    .returning({ id });
  if (!row) return undefined;
  const [recorded] = await select(db, eq(id, row.id));
  if (!recorded) throw new Error("the database has lost a new delegation");
  return delegationOf(recorded);
}

/** A page of the delegations from or to a wallet for this router, newest first, and how many there are. */
export async function listDelegations(
  db: Database,
  { wallet, domain }: { wallet: Address; domain: DelegationDomain },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ delegations: Delegation[]; total: number }> {
  const party = or(eq(buyer, lower(wallet)), eq(agent, lower(wallet)));
  const ofDomain = and(eq(chainId, domain.chainId), eq(router, lower(domain.verifyingContract)));
  const concerned = and(ofDomain, party);
  const [rows, total] = await Promise.all([
    select(db, concerned).orderBy(desc(id)).limit(limit).offset(offset),
    db.$count(delegationTable, concerned),
  ]);
  return { delegations: rows.map(delegationOf), total };
}

/**
 * Revokes a buyer's delegation; what was signed under it goes on, and what was only accepted fails. It takes its turn with the acceptances of this
 * buyer, so that none follows that began before. Idempotent: a second call keeps and returns the time of the first.
 * @returns undefined when this buyer has given no such delegation
 */
export async function revokeDelegation(
  db: Database,
  delegationId: number,
  owner: { buyer: Address; chain: number },
): Promise<Date | undefined> {
  return db.transaction(async (tx) => {
    await lockBuyer(tx, owner.chain, owner.buyer);
    const [row] = await tx
      .update(delegationTable)
      .set({ revokedAt: sql`coalesce(${revokedAt}, now())` })
      .where(and(eq(id, delegationId), eq(buyer, lower(owner.buyer)), eq(chainId, owner.chain)))
      .returning({ revokedAt });
    return row?.revokedAt ?? undefined;
  });
}
