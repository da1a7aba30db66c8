import { sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";

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

/** What the buyer's balance and its allowance both cover. */
export const payable = ({ balance, allowance }: Funds): bigint => (balance < allowance ? balance : allowance);

/** Lets everything that decides over a buyer's money take turns, until the transaction ends. */
export async function lockBuyer(
  tx: Pick<Database, "execute">,
  chainId: number,
  buyer: Address,
): Promise<void> {
  await tx.execute(sql`select service.lock_buyer(${chainId}, ${lower(buyer)})`);
}

/** Whether the buyer has given the agent a leave that is in force, however much is left of it. */
export async function isDelegated(
  db: Database,
  { chainId, router, buyer, agent }: { chainId: number; router: Address; buyer: Address; agent: Address },
): Promise<boolean> {
  const rows = await db.execute(
    sql`select 1 from service.delegation_in_force(${chainId}, ${lower(router)}, ${lower(buyer)}, ${lower(agent)}, 0)`,
  );
  return rows.length > 0;
}

/** The block up to which the writer has settled what is in flight; undefined before its first one. */
export async function readWatchedBlock(db: Database, chainId: number): Promise<bigint | undefined> {
  const [row] = await db.execute<{ number: string }>(
    sql`select number from service.watched_block where chain_id = ${chainId}`,
  );
  return row && BigInt(row.number);
}
