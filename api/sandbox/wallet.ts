import { sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import { roleWallet } from "../../lib/ledger/relayers.ts";
import { lower } from "../../lib/lower.ts";

/** What the writer last found of the sandbox's wallet: 6 decimals, `ether` in wei. */
export type Found = {
  usdc: bigint;
  allowance: bigint;
  ether: bigint;
  canBuy: boolean;
  /** What keeps the wallet from being kept in funds and approved; it may still be able to buy. */
  fault: string | undefined;
  checkedAt: Date;
};

/** Whether the sandbox can buy now, and why not: `code` is the one that a purchase is answered with. */
export type SandboxState =
  | { status: "ready"; wallet: Address; found: Found }
  | {
      status: "unready";
      wallet: Address;
      /** Undefined until the writer has looked at the wallet. */
      found: Found | undefined;
      code: "relayer_unavailable" | "sandbox_unready";
      reason: string;
    }
  | {
      status: "disabled";
      /** Undefined when there is none. */
      wallet: Address | undefined;
      code: "purchases_stopped" | "sandbox_disabled";
      reason: string;
    };

/** Where no writer has, or has had for an hour, a wallet for the sandbox. */
export const noSandbox = {
  status: "disabled",
  wallet: undefined,
  code: "sandbox_disabled",
  reason: "No writer has, or has had for an hour, a wallet for the sandbox.",
} satisfies SandboxState;

type Row = {
  usdc: string;
  allowance: string;
  ether: string;
  can_buy: boolean;
  fault: string | null;
  checked_ms: number;
};

async function readFound(db: Database, chainId: number, wallet: Address): Promise<Found | undefined> {
  const [row] = await db.execute<Row>(sql`
    select usdc, allowance, ether, can_buy, fault, extract(epoch from checked_at)::float8 * 1000 as checked_ms
    from service.sandbox_wallet where chain_id = ${chainId} and wallet = ${lower(wallet)}`);
  return (
    row && {
      usdc: BigInt(row.usdc),
      allowance: BigInt(row.allowance),
      ether: BigInt(row.ether),
      canBuy: row.can_buy,
      fault: row.fault ?? undefined,
      checkedAt: new Date(row.checked_ms),
    }
  );
}

/** What the writer says of the sandbox. */
export async function readSandbox(db: Database, chainId: number): Promise<SandboxState> {
  const known = await roleWallet(db, chainId, "sandbox");
  if (!known) return noSandbox;
  const { address: wallet, alive, stopped } = known;
  if (stopped) {
    const reason = "The operator has stopped the sandbox's purchases.";
    return { status: "disabled", wallet, code: "purchases_stopped", reason };
  }
  const found = await readFound(db, chainId, wallet);
  if (!alive) {
    const reason = "No writer sends from the sandbox's wallet at present.";
    return { status: "unready", wallet, found, code: "relayer_unavailable", reason };
  }
  if (found?.canBuy) return { status: "ready", wallet, found };
  const reason = found?.fault ?? "The wallet was not looked at yet.";
  return { status: "unready", wallet, found, code: "sandbox_unready", reason };
}

/** Whether a purchase of the sandbox stands for this key; one that has certainly bought nothing no longer does. */
export async function hasStanding(
  db: Database,
  { chainId, wallet, idempotencyKey }: { chainId: number; wallet: Address; idempotencyKey: string },
): Promise<boolean> {
  const rows = await db.execute(
    sql`select 1 from service.standing_purchase(${chainId}, ${lower(wallet)}, ${idempotencyKey}, '')`,
  );
  return rows.length > 0;
}
