import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";

/** A claim's state with its evidence. */
export type ClaimProgress =
  /** One of its transfers, or both, may still be mined. */
  | { state: "open" }
  /** Both are in a block. */
  | { state: "paid"; etherTx: Hex; usdcTx: Hex }
  /** At least one transfer failed. `freed`: nothing was paid, and the wallet may claim again at once. */
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
  txHash: Hex | null;
  code: ErrorCode | null;
  message: string | null;
  final: boolean;
};

type Transfers = { freed: boolean; ether: TransferRow; usdc: TransferRow };
type Row = Pick<Claim, "id" | "chainId" | "wallet" | "claimedAt"> & Transfers;

function transferOf({ state, txHash, code, message, final }: TransferRow): Transfer {
  if ((state === "mined" || state === "confirmed") && txHash !== null) return { state: "paid", txHash };
  // Until a revert is final, a reorganisation can undo it, and the same signed bytes can then pay.
  if (state === "failed" && final && code !== null && message !== null) {
    return { state: "failed", code, message };
  }
  return { state: "open" };
}

function progressOf({ ether: etherRow, usdc: usdcRow, freed }: Transfers): ClaimProgress {
  const [ether, usdc] = [transferOf(etherRow), transferOf(usdcRow)];
  if (ether.state === "open" || usdc.state === "open") return { state: "open" };
  if (ether.state === "failed") return { ...ether, freed };
  if (usdc.state === "failed") return { ...usdc, freed };
  return { state: "paid", etherTx: ether.txHash, usdcTx: usdc.txHash };
}

const transfer = (sql: ISql, purpose: "faucet_ether" | "faucet_usdc") => sql`(
  select json_build_object('state', e.state, 'txHash', e.tx_hash, 'code', e.failure_code,
    'message', e.failure_message, 'final', e.final_at is not null)
  from service.service_transaction_progress e where e.claim_id = c.id and e.purpose = ${purpose})`;

/** Reads several claims in one query, in no particular order; unknown ids are left out. */
export async function readClaims(sql: Sql, ids: readonly string[]): Promise<Claim[]> {
  if (ids.length === 0) return [];
  const rows = await sql<Row[]>`
    select c.id, c.chain_id as "chainId", c.wallet, c.claimed_at as "claimedAt", c.freed_at is not null as freed,
      ${transfer(sql, "faucet_ether")} as ether, ${transfer(sql, "faucet_usdc")} as usdc
    from service.faucet_claim c where c.id = any(${[...ids]}::uuid[])`;
  return rows.map(({ freed, ether, usdc, ...claim }) => ({
    ...claim,
    ...progressOf({ freed, ether, usdc }),
  }));
}

/** A caller receives the outcome: no other call joins the claim from now on. */
export async function noteClaimReported(sql: Sql, id: string): Promise<void> {
  await sql`update service.faucet_claim set told_at = now() where id = ${id} and told_at is null`;
}

/**
 * The call that waits for the claim until `awaitedUntil` ends without an outcome: the next one may join at once. It has no
 * effect once another call has joined.
 */
export async function stopAwaiting(
  sql: Sql,
  { claimId, awaitedUntil }: { claimId: string; awaitedUntil: string },
): Promise<void> {
  // As text: a Date would cut off the microseconds.
  await sql`
    update service.faucet_claim set awaited_until = now()
    where id = ${claimId} and awaited_until = ${awaitedUntil}::text::timestamptz and awaited_until > now()`;
}
