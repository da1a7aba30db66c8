/** Service transactions that are signed and mined as by the writer, without a chain. */
import type { Sql } from "postgres";
import { type Address, type Hex, numberToHex } from "viem";
import { type Assigned, assignNonces, type WantedCall } from "../../workers/ledger/assign-nonces.ts";
import { type Lease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { type Outcome, settle } from "../../workers/ledger/outcomes.ts";
import { lockGroups } from "../../workers/ledger/service-transactions.ts";
import { type Form, storeForms } from "../../workers/ledger/transactions.ts";

/** The highest gas cost of a signed form, in wei: 21,000 gas at 2 wei. */
const COST = 42_000n;

/** A lease on the faucet's wallet that does not expire during the test. */
export async function holdFaucet(sql: Sql, chainId: number, address: Address): Promise<Lease> {
  const lease = await takeLease(sql, { chainId, address, owner: "test", role: "faucet" });
  if (!lease) throw new Error("another writer has the faucet's wallet");
  await startNonces(sql, lease, 0);
  await sql`update service.relayer_wallet set lease_until = 'infinity' where address = ${address}`;
  return lease;
}

/**
 * Gives nonces to service transactions that wait, together or not at all, and stores nothing more: as a writer that dies
 * before it signs. Empty when one of them does not wait any more.
 */
export async function assignServiceTransactions(
  sql: Sql,
  lease: Lease,
  ids: readonly string[],
): Promise<Assigned[]> {
  const rows = await sql<{ id: string; to: Address; data: Hex; value: string }[]>`
    select id, "to", data, value from service.service_transaction where id = any(${[...ids]}::uuid[]) order by purpose`;
  const calls = rows.map(({ id, to, data, value }): WantedCall => {
    return {
      kind: "service_transaction",
      id,
      call: { to, data, value: BigInt(value), gasLimit: 21_000n },
      cost: COST,
    };
  });
  const groups = [{ id: ids[0] ?? "", calls }];
  const { assigned } = await assignNonces(sql, {
    lease,
    candidates: (tx) => lockGroups(tx, groups),
    clients: () => [],
    choose: (candidates) => ({ send: candidates.flatMap((group) => group.calls) }),
  });
  return assigned;
}

/** The signed form of a transaction; `bump` numbers the later ones. */
export const formOf = (transactionId: number, bump = 0): Form => ({
  transactionId,
  signed: {
    hash: numberToHex(transactionId * 1000 + bump, { size: 32 }),
    bytes: "0x00",
    maxFee: 2n,
    priorityFee: 1n,
  },
  cancels: false,
  cost: COST,
});

/** Gives nonces to service transactions that wait, and stores their signed bytes. */
export async function signServiceTransactions(
  sql: Sql,
  lease: Lease,
  ids: readonly string[],
): Promise<Assigned[]> {
  const assigned = await assignServiceTransactions(sql, lease, ids);
  await storeForms(
    sql,
    lease,
    assigned.map(({ transactionId }) => formOf(transactionId)),
  );
  return assigned;
}

/** The hash of a block of this height; `branch` numbers the blocks of other branches. */
export const blockHash = (block: number, branch = 0): Hex => numberToHex(block * 10 + branch, { size: 32 });

/** Records that the first form of a transaction is in a block, with its effect or reverted. */
export async function settleFirstForm(
  sql: Sql,
  transactionId: number,
  block: number,
  kind: "done" | "reverted" = "done",
): Promise<void> {
  const mined = {
    hash: formOf(transactionId).signed.hash,
    blockNumber: BigInt(block),
    blockHash: blockHash(block),
    gasCost: 100n,
  };
  const outcome: Outcome =
    kind === "done"
      ? { ...mined, kind }
      : { ...mined, kind, code: "onchain_revert", message: "it reverted", failedBy: "protocol" };
  await settle(sql, [outcome]);
}
