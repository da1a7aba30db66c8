import type { Sql } from "postgres";
import type { Address } from "viem";
import { roleWallet } from "../../lib/ledger/relayers.ts";
import { lower } from "../../lib/lower.ts";

/** The sandbox's wallet as the writer last checked it: USDC with 6 decimals, `ether` in wei. */
export type WalletCheck = {
  usdc: bigint;
  allowance: bigint;
  ether: bigint;
  canBuy: boolean;
  /** Why the upkeep cannot fund or approve the wallet; it may still be able to buy. */
  fault: string | undefined;
  checkedAt: Date;
};

/** Whether the sandbox can buy now, and if not, why; a purchase is refused with `code`. */
export type SandboxState =
  | { status: "ready"; wallet: Address; check: WalletCheck }
  | {
      status: "unready";
      wallet: Address;
      /** Undefined until the writer has checked the wallet. */
      check: WalletCheck | undefined;
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

/** The state when no writer has had a wallet for the sandbox within the last hour. */
export const noSandbox = {
  status: "disabled",
  wallet: undefined,
  code: "sandbox_disabled",
  reason: "There is no sandbox: no writer has had a wallet for it within the last hour.",
} satisfies SandboxState;

type Row = Pick<WalletCheck, "canBuy" | "checkedAt"> & {
  usdc: string;
  allowance: string;
  ether: string;
  fault: string | null;
};

async function readCheck(sql: Sql, chainId: number, wallet: Address): Promise<WalletCheck | undefined> {
  const [row] = await sql<Row[]>`
    select usdc, allowance, ether, can_buy as "canBuy", fault, checked_at as "checkedAt"
    from service.sandbox_wallet where chain_id = ${chainId} and wallet = ${lower(wallet)}`;
  return (
    row && {
      ...row,
      usdc: BigInt(row.usdc),
      allowance: BigInt(row.allowance),
      ether: BigInt(row.ether),
      fault: row.fault ?? undefined,
    }
  );
}

/** The sandbox's state from the writer's rows. */
export async function readSandbox(sql: Sql, chainId: number): Promise<SandboxState> {
  const known = await roleWallet(sql, chainId, "sandbox");
  if (!known) return noSandbox;
  const { address: wallet, alive, stopped } = known;
  if (stopped) {
    const reason = "The operator has stopped the sandbox's purchases.";
    return { status: "disabled", wallet, code: "purchases_stopped", reason };
  }
  const check = await readCheck(sql, chainId, wallet);
  if (!alive) {
    const reason = "No writer sends from the sandbox's wallet at present.";
    return { status: "unready", wallet, check, code: "relayer_unavailable", reason };
  }
  if (check?.canBuy) return { status: "ready", wallet, check };
  const reason = check?.fault ?? "The wallet has not been checked yet.";
  return { status: "unready", wallet, check, code: "sandbox_unready", reason };
}

/** Whether the sandbox has a purchase with this key. One that failed without a transaction, or was replaced, does not count. */
export async function hasPurchase(
  sql: Sql,
  { chainId, wallet, idempotencyKey }: { chainId: number; wallet: Address; idempotencyKey: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from service.existing_purchase(${chainId}, ${lower(wallet)}, ${idempotencyKey}, '')`;
  return rows.length > 0;
}
