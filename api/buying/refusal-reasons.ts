import type { ISql } from "postgres";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";

/** A buyer's USDC balance and its allowance to the router, at a block that the ledger has settled. 6 decimals. */
export type Funds = { block: bigint; balance: bigint; allowance: bigint };

/** Why the ledger refuses to record a purchase. */
export type Refusal =
  /** The key was revoked while its request was on its way. */
  | { kind: "revoked" }
  /** The operator has stopped all purchases, those of the key's wallet, or those of the key. */
  | { kind: "stopped"; scope: "global" | "wallet" | "key" }
  /** A limit of the key. `most` is the premium that it allows (6 decimals): of one purchase, or what is left of the day's. */
  | { kind: "limited"; by: "scope" | "product" }
  | { kind: "limited"; by: "purchase" | "day"; most: bigint }
  /** Too many purchases of the buyer reverted: they are paused. */
  | { kind: "paused"; secondsLeft: number }
  /** The buyer is another wallet. `left` is the rest of its delegation's cap (6 decimals), undefined without a delegation. */
  | { kind: "not_delegated"; left: bigint | undefined }
  /** Another permit of the buyer is not mined yet, and would be undone by this one or undo it. */
  | { kind: "permit_in_flight" }
  /** The buyer has other purchases in flight, so its funds are needed. */
  | { kind: "funds_unknown" }
  /** The premiums in flight (`held`) and this one exceed the buyer's funds. 6 decimals. */
  | { kind: "short_of_funds"; held: bigint; funds: Funds };

/** The smaller of balance and allowance. */
export const payable = ({ balance, allowance }: Funds): bigint => (balance < allowance ? balance : allowance);

/** Locks a buyer until the transaction ends, so that decisions about its money are made one at a time. */
export async function lockBuyer(tx: ISql, chainId: number, buyer: Address): Promise<void> {
  await tx`select service.lock_buyer(${chainId}, ${lower(buyer)})`;
}

/** Whether the buyer has an active delegation to the agent, even with its cap used up. */
export async function isDelegated(
  sql: ISql,
  { chainId, router, buyer, agent }: { chainId: number; router: Address; buyer: Address; agent: Address },
): Promise<boolean> {
  const rows = await sql`
    select 1 from service.delegation_in_force(${chainId}, ${lower(router)}, ${lower(buyer)}, ${lower(agent)}, 0)`;
  return rows.length > 0;
}

/** The newest block that the writer has settled; undefined before the first. */
export async function readWatchedBlock(sql: ISql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ number: string }[]>`
    select number from service.watched_block where chain_id = ${chainId}`;
  return row && BigInt(row.number);
}
