import type { Sql } from "postgres";
import type { Hex } from "viem";
import { storeFillers } from "../../../workers/ledger/fillers.ts";
import type { Lease } from "../../../workers/ledger/leases.ts";
import { storeForms } from "../../../workers/ledger/transactions.ts";

/** Stores a filler for a free nonce below the wallet's next one, with a signed form of this hash. */
export async function storeSignedFiller(sql: Sql, lease: Lease, nonce: number, hash: Hex): Promise<void> {
  await storeFillers(sql, lease, [nonce], { to: lease.address, data: "0x", value: 0n, gasLimit: 21_000n });
  const [row] = await sql<{ id: string }[]>`
    select id from service.transaction where wallet = ${lease.address} and nonce = ${nonce}`;
  const signed = { hash, bytes: "0x00", maxFee: 1n, priorityFee: 1n } as const;
  await storeForms(sql, lease, [{ transactionId: Number(row?.id), signed, cancels: false, cost: 21_000n }]);
}
