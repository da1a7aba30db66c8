import { type SQL, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../db/connect.ts";
import { lower } from "./lower.ts";
import type { PurchaseRequest } from "./purchase.ts";

/** What hinders a purchase before it is recorded; what stands in the ledger alone decides, and no node is asked. */

/** What the buyer can pay the router, as of a block up to which the ledger has settled. 6 decimals. */
export type Funds = { block: bigint; balance: bigint; allowance: bigint };

export type Hindrance =
  /** By the operator: all purchases, those of the key's wallet, or those of the key. */
  | { kind: "stopped"; scope: "global" | "wallet" | "key" }
  /** Too many purchases of the key's wallet reverted. */
  | { kind: "resting"; secondsLeft: number }
  /** The buyer is another wallet and gave no leave; `left` is what is left of the leave that it gave, 6 decimals. */
  | { kind: "not_delegated"; left: bigint | undefined }
  /** The buyer has other purchases on their way: what it can pay must be known. */
  | { kind: "funds_unknown" }
  /** The premiums on their way, `held`, and this one exceed what the buyer can pay. 6 decimals. */
  | { kind: "short_of_funds"; held: bigint; funds: Funds };

/** `delegationId` is the leave under which the buyer's money is spent; null for the buyer's own key. */
type Leave = { kind: "none"; delegationId: number | null };

type Executor = Pick<Database, "execute">;
type Asked = {
  chainId: number;
  wallet: Address;
  keyId: number;
  request: Pick<PurchaseRequest, "buyer">;
  quotedPremium: bigint;
};

/** Lets the acceptances of one buyer follow each other, until the transaction ends. */
export async function lockBuyer(tx: Executor, chainId: number, buyer: Address): Promise<void> {
  const name = `service:buyer:${chainId}:${lower(buyer)}`;
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
}

/** A delegation of the buyer to the wallet that is in force, the one with room for the premium first. */
export async function findDelegation(
  tx: Executor,
  { chainId, wallet, request, quotedPremium }: Asked,
): Promise<{ id: number; left: bigint } | undefined> {
  const [row] = await tx.execute<{ id: string; left: string }>(sql`
    select id, premium_left as left from (
      select id, expires_at, total_premium_cap - service.delegation_spent(id) as premium_left
      from service.delegation
      where chain_id = ${chainId} and buyer = ${lower(request.buyer)} and agent = ${lower(wallet)}
        and revoked_at is null and expires_at > now()) d
    order by premium_left >= ${String(quotedPremium)}::numeric desc, expires_at limit 1`);
  return row && { id: Number(row.id), left: BigInt(row.left) };
}

type LedgerRow = {
  stopped_by: "global" | "wallet" | "key" | null;
  rests: number | null;
  held: string;
  open: number;
};

/** Premiums that the block's state does not show yet: of open purchases, and of those mined above it. */
const unseen = (block: bigint | undefined): SQL =>
  sql`(state <> 'mined' or block_number > ${block === undefined ? null : String(block)}::bigint)`;

/**
 * Looks for a hindrance within a transaction that holds {@link lockBuyer}; without one, says under which leave the
 * purchase may be recorded.
 */
export async function hindranceOf(
  tx: Executor,
  asked: Asked,
  funds: Funds | undefined,
): Promise<Hindrance | Leave> {
  const { chainId, keyId, quotedPremium } = asked;
  const [wallet, buyer] = [lower(asked.wallet), lower(asked.request.buyer)];
  const ledger = tx.execute<LedgerRow>(sql`
    select service.stopped_by(${wallet}, ${keyId}::bigint) as stopped_by,
      ceil(extract(epoch from service.rests_until(${wallet}) - now()))::int as rests,
      flight.held::text as held, flight.open
    from (
      select coalesce(sum(quoted_premium), 0) as held, count(*)::int as open from service.purchase
      where buyer = ${buyer} and chain_id = ${chainId} and state in ('accepted', 'signed', 'broadcast', 'mined')
        and ${unseen(funds?.block)}) flight`);
  const [rows, delegation] = await Promise.all([
    ledger,
    wallet === buyer ? undefined : findDelegation(tx, asked),
  ]);
  const [row] = rows;
  if (!row) throw new Error("the ledger said nothing of a purchase");
  if (row.stopped_by !== null) return { kind: "stopped", scope: row.stopped_by };
  if (row.rests !== null) return { kind: "resting", secondsLeft: Math.max(1, row.rests) };
  if (wallet !== buyer && (!delegation || delegation.left < quotedPremium)) {
    return { kind: "not_delegated", left: delegation?.left };
  }
  const held = BigInt(row.held);
  if (row.open > 0 && funds === undefined) return { kind: "funds_unknown" };
  if (funds && row.open > 0 && held + quotedPremium > least(funds)) {
    return { kind: "short_of_funds", held, funds };
  }
  return { kind: "none", delegationId: delegation?.id ?? null };
}

const least = ({ balance, allowance }: Funds) => (balance < allowance ? balance : allowance);

/** The block up to which the writer has settled what is in flight; undefined before its first one. */
export async function readWatchedBlock(db: Executor, chainId: number): Promise<bigint | undefined> {
  const [row] = await db.execute<{ number: string }>(
    sql`select number from service.watched_block where chain_id = ${chainId}`,
  );
  return row && BigInt(row.number);
}
