/** A database for tests of the faucet's tables, without writer and chain. Emptied after each test. */
import { type Address, numberToHex } from "viem";
import { afterEach, beforeAll } from "vitest";
import {
  type Admission,
  type ClaimRequest,
  claimFaucet,
  type FaucetFunds,
} from "../../../../api/faucet/admission.ts";
import { asApi } from "../../../../lib/db/api-role.ts";
import { type Connection, connect } from "../../../../lib/db/connect.ts";
import type { Lease } from "../../../../workers/ledger/leases.ts";
import { confirmBlocks, markLost } from "../../../../workers/ledger/outcomes.ts";
import { atEnd } from "../../../support/cleanup.ts";
import { freshDatabase } from "../../../support/database.ts";
import {
  assignServiceTransactions,
  blockHash,
  holdFaucet,
  settleFirstForm,
  signServiceTransactions,
} from "../../../support/service-transactions.ts";

export const chainId = 84532;
export const faucet: Address = "0x00000000000000000000000000000000000000fa";
export const token: Address = "0x00000000000000000000000000000000000000dc";
export const walletOf = (n: number): Address => numberToHex(n + 0x1000, { size: 20 });
export const clientOf = (n: number): string => `203.0.113.${n}`;
/** More ether than all tests claim. */
export const ampleFunds: FaucetFunds = { block: 1000n, balance: 10n ** 30n, gas: 1n };

export let databaseUrl: string;
export let connection: Connection;
/** With the rights of the api. */
export let api: Connection;

/** Call at the top of a test file: creates the file's own database, and empties it after each test. */
export function useDatabase(): void {
  beforeAll(async () => {
    databaseUrl = await freshDatabase();
    connection = connect(databaseUrl, { name: "test" });
    api = connect(asApi(databaseUrl), { name: "test-api" });
    atEnd(() => connection.close());
    atEnd(() => api.close());
  });
  afterEach(async () => {
    lease = undefined;
    await connection.sql`
      truncate service.faucet_claim, service.faucet_slot, service.faucet_day, service.service_transaction, service.waiting,
        service.transaction, service.relayer_wallet, service.gas_day, service.stop cascade`;
  });
}

export const claimRequest = (n: number, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
  chainId,
  faucet,
  token,
  wallet: walletOf(n),
  client: clientOf(n),
  waitMs: 60_000,
  funds: ampleFunds,
  ...more,
});

export async function tryClaim(n: number, more: Partial<ClaimRequest> = {}, by = api): Promise<Admission> {
  const request = claimRequest(n, more);
  // As a writer does that has the wallet's key: the api may insert transfers of a faucet's wallet only.
  await connection.sql`
    insert into service.relayer_wallet (chain_id, address, role) values (${request.chainId}, ${request.faucet}, 'faucet')
    on conflict do nothing`;
  return claimFaucet(by.sql, request);
}

/** Creates a claim. @returns its id @throws when the claim is refused */
export async function createClaim(n: number, more: Partial<ClaimRequest> = {}): Promise<string> {
  const result = await tryClaim(n, more);
  if (result.outcome !== "claimed") throw new Error(result.outcome);
  return result.claimId;
}

export const countOutcomes = (results: readonly Admission[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { outcome } of results) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

export async function freeClaim(id: string): Promise<boolean> {
  const [row] = await connection.sql<{ freed: boolean }[]>`
    select service.free_claim(${id}, 'claim_expired', 'not signed in time') as freed`;
  return row?.freed ?? false;
}

/** Moves a claim and its slots into the past. */
export async function ageClaim(id: string, interval: string): Promise<void> {
  await connection.sql`update service.faucet_claim set claimed_at = claimed_at - ${interval}::interval where id = ${id}`;
  await connection.sql`update service.faucet_slot set until = until - ${interval}::interval where claim_id = ${id}`;
}

/** Counts the rows of all tables. A claim that is not freed has two slots, two transfers, and counts towards its day. */
export async function countRows() {
  const [row] = await connection.sql<
    Record<"claims" | "freed" | "slots" | "day" | "serviceTransactions", number>[]
  >`
    select (select count(*)::int from service.faucet_claim) as claims,
      (select count(*)::int from service.faucet_claim where freed_at is not null) as freed,
      (select count(*)::int from service.faucet_slot) as slots,
      (select coalesce(sum(claims), 0)::int from service.faucet_day) as day,
      (select count(*)::int from service.service_transaction_progress) as "serviceTransactions"`;
  if (!row) throw new Error("no counts");
  return row;
}

type Purpose = "faucet_ether" | "faucet_usdc";

let lease: Promise<Lease> | undefined;
const faucetLease = (): Promise<Lease> => {
  lease ??= holdFaucet(connection.sql, chainId, faucet);
  return lease;
};

async function transferOf(id: string, purpose: Purpose): Promise<{ id: string; transactionId: number }> {
  const [row] = await connection.sql<{ id: string; transactionId: number }[]>`
    select e.id, t.id::int as "transactionId" from service.service_transaction e
    left join service.transaction t on t.intent = e.id and t.lost_to is null
    where e.claim_id = ${id} and e.purpose = ${purpose}`;
  if (!row) throw new Error(`claim ${id} has no ${purpose}`);
  return row;
}

/** Gives transfers of a claim their nonces, and stores no bytes: as a writer that dies in between. */
export async function assignTransfers(id: string, ...purposes: Purpose[]): Promise<void> {
  const ids = await Promise.all(purposes.map(async (purpose) => (await transferOf(id, purpose)).id));
  const assigned = await assignServiceTransactions(connection.sql, await faucetLease(), ids);
  if (assigned.length === 0) throw new Error("nothing to sign");
}

/** Signs transfers of a claim together. @throws when one of them does not wait to be signed */
export async function signTransfers(id: string, ...purposes: Purpose[]): Promise<void> {
  const ids = await Promise.all(purposes.map(async (purpose) => (await transferOf(id, purpose)).id));
  const signed = await signServiceTransactions(connection.sql, await faucetLease(), ids);
  if (signed.length === 0) throw new Error("nothing to sign");
}

/** Records that a signed transfer is in a block. */
export async function mineTransfer(
  id: string,
  purpose: Purpose,
  block: number,
  kind: "done" | "reverted" = "done",
): Promise<void> {
  const { transactionId } = await transferOf(id, purpose);
  await settleFirstForm(connection.sql, transactionId, block, kind);
}

/** Records that another program's transaction has the nonce of a signed transfer for good. */
export async function loseTransfer(id: string, purpose: Purpose): Promise<void> {
  const { transactionId } = await transferOf(id, purpose);
  await markLost(connection.sql, transactionId, numberToHex(99, { size: 32 }));
}

/** Records that a block lies deep enough. */
export const confirmBlock = (block: number): Promise<void> =>
  confirmBlocks(connection.sql, chainId, [{ number: BigInt(block), hash: blockHash(block) }]);
