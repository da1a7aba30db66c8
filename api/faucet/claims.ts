import { sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import type { ErrorCode } from "../../lib/errors.ts";

/** How far a claim has come. */
export type ClaimProgress =
  /** One of its transfers, or both, may still be mined. */
  | { state: "open" }
  /** Both are in a block. */
  | { state: "paid"; etherTx: Hex; usdcTx: Hex }
  /** Not all was paid, and no more will be. `freed`: nothing was, and the wallet may claim again at once. */
  | { state: "failed"; code: ErrorCode; message: string; freed: boolean };

/** `id` is a UUID; `wallet` is lowercase. */
export type Claim = { id: string; chainId: number; wallet: Address; claimedAt: Date } & ClaimProgress;

export const isClaimSettled = (claim: Pick<Claim, "state">): boolean => claim.state !== "open";

/** One of a claim's two transfers. */
type Transfer =
  | { state: "open" }
  | { state: "paid"; txHash: Hex }
  | { state: "failed"; code: ErrorCode; message: string };

type TransferRow = {
  state: string;
  tx_hash: Hex | null;
  failure_code: ErrorCode | null;
  failure_message: string | null;
  final: boolean;
};

type Row = {
  id: string;
  chain_id: number;
  wallet: Address;
  claimed_ms: number;
  freed: boolean;
  ether: TransferRow;
  usdc: TransferRow;
};

function transferOf({ state, tx_hash, failure_code, failure_message, final }: TransferRow): Transfer {
  if ((state === "mined" || state === "confirmed") && tx_hash !== null)
    return { state: "paid", txHash: tx_hash };
  // A reorganisation can still undo a revert, and the same bytes then pay: its fate is open until it is final.
  if (state === "failed" && final && failure_code !== null && failure_message !== null) {
    return { state: "failed", code: failure_code, message: failure_message };
  }
  return { state: "open" };
}

function progressOf({ ether: etherRow, usdc: usdcRow, freed }: Row): ClaimProgress {
  const [ether, usdc] = [transferOf(etherRow), transferOf(usdcRow)];
  if (ether.state === "open" || usdc.state === "open") return { state: "open" };
  if (ether.state === "failed") return { ...ether, freed };
  if (usdc.state === "failed") return { ...usdc, freed };
  return { state: "paid", etherTx: ether.txHash, usdcTx: usdc.txHash };
}

const transfer = (purpose: "faucet_ether" | "faucet_usdc") => sql`(
  select json_build_object('state', e.state, 'tx_hash', e.tx_hash, 'failure_code', e.failure_code,
    'failure_message', e.failure_message, 'final', e.final_at is not null)
  from service.errand e where e.claim_id = c.id and e.purpose = ${purpose})`;

/** Reads several claims in one query, in no particular order; unknown ids are left out. */
export async function readClaims(db: Database, ids: readonly string[]): Promise<Claim[]> {
  if (ids.length === 0) return [];
  const rows = await db.execute<Row>(sql`
    select c.id, c.chain_id, c.wallet, extract(epoch from c.claimed_at)::float8 * 1000 as claimed_ms,
      c.freed_at is not null as freed, ${transfer("faucet_ether")} as ether, ${transfer("faucet_usdc")} as usdc
    from service.faucet_claim c where c.id in ${[...ids]}`);
  return rows.map((row) => ({
    id: row.id,
    chainId: row.chain_id,
    wallet: row.wallet,
    claimedAt: new Date(row.claimed_ms),
    ...progressOf(row),
  }));
}

/** Somebody is being told the outcome: nobody joins the claim any more. */
export async function noteClaimTold(db: Database, id: string): Promise<void> {
  await db.execute(sql`update service.faucet_claim set told_at = now() where id = ${id} and told_at is null`);
}

/**
 * The call that had the claim until `awaitedUntil` ends without having told the outcome: the next one may join at once. One
 * that has joined since keeps it.
 */
export async function stopAwaiting(
  db: Database,
  { claimId, awaitedUntil }: { claimId: string; awaitedUntil: string },
): Promise<void> {
  await db.execute(
    sql`update service.faucet_claim set awaited_until = now()
      where id = ${claimId} and awaited_until = ${awaitedUntil}::timestamptz and awaited_until > now()`,
  );
}
