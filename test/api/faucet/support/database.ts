/** A database for tests of the faucet's tables, without writer and chain. Emptied after each test. */
import { type Address, numberToHex } from "viem";
import { afterEach, beforeAll } from "vitest";
import {
  type Admission,
  type ClaimRequest,
  claimFaucet,
  type FaucetFunds,
} from "../../../../api/faucet/admission.ts";
import { API_ROLE } from "../../../../lib/db/api-role.ts";
import { type Connection, connect } from "../../../../lib/db/connect.ts";
import { atEnd } from "../../../support/cleanup.ts";
import { freshDatabase } from "../../../support/database.ts";

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
    api = connect(databaseUrl, { name: "test-api", role: API_ROLE });
    atEnd(() => connection.close());
    atEnd(() => api.close());
  });
  afterEach(async () => {
    await connection.sql`
      truncate service.faucet_claim, service.faucet_slot, service.faucet_day, service.service_transaction, service.transaction, service.stop
      cascade`;
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

export const tryClaim = (n: number, more: Partial<ClaimRequest> = {}, by = api): Promise<Admission> =>
  claimFaucet(by.sql, claimRequest(n, more));

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

/** Counts the rows of all tables. A claim that is not freed has two slots, two transfers, and counts towards its day. */
export async function countRows() {
  const [row] = await connection.sql<
    Record<"claims" | "freed" | "slots" | "day" | "serviceTransactions" | "wei", number>[]
  >`
    select (select count(*)::int from service.faucet_claim) as claims,
      (select count(*)::int from service.faucet_claim where freed_at is not null) as freed,
      (select count(*)::int from service.faucet_slot) as slots,
      (select coalesce(sum(claims), 0)::int from service.faucet_day) as day,
      (select count(*)::int from service.service_transaction) as "serviceTransactions"`;
  if (!row) throw new Error("no counts");
  return row;
}

type Purpose = "faucet_ether" | "faucet_usdc";

/** Writes the rows that the writer writes when it signs a transfer of a claim. */
export async function recordSigned(id: string, purpose: Purpose, nonce = 0): Promise<void> {
  const { sql } = connection;
  await sql`insert into service.relayer_wallet (chain_id, address, role) values (${chainId}, ${faucet}, 'faucet')
    on conflict do nothing`;
  const hash = numberToHex(nonce + 1, { size: 32 });
  await sql.begin(async (tx) => {
    const [serviceTransaction] = await tx<{ id: string }[]>`
      update service.service_transaction set state = 'signed', tx_hash = ${hash}
      where claim_id = ${id} and purpose = ${purpose} and state = 'accepted' returning id`;
    if (!serviceTransaction) throw new Error("nothing to sign");
    await tx`insert into service.transaction (chain_id, wallet, nonce, kind, service_transaction_id, "to", data, gas_limit)
      values (${chainId}, ${faucet}, ${nonce}, 'service_transaction', ${serviceTransaction.id}, ${faucet}, '0x', 21000)`;
  });
}

/** Records that a transfer is in a block. */
export async function recordMined(id: string, purpose: Purpose, block: number): Promise<void> {
  await connection.sql`
    update service.service_transaction set state = 'mined', tx_hash = ${numberToHex(block * 2 + (purpose === "faucet_usdc" ? 1 : 0), { size: 32 })},
      block_number = ${block}, block_hash = ${numberToHex(block, { size: 32 })}
    where claim_id = ${id} and purpose = ${purpose}`;
}
