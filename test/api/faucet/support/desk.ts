/** A database with the faucet's tables and nothing else: no writer, no chain. Emptied after each test. */
import { type Address, numberToHex } from "viem";
import { afterEach, beforeAll } from "vitest";
import {
  type ClaimWish,
  claimFaucet,
  type FaucetFunds,
  type Gate,
} from "../../../../api/faucet/admission.ts";
import { type Connection, connect } from "../../../../lib/db/connect.ts";
import { atEnd } from "../../../support/cleanup.ts";
import { freshDatabase } from "../../../support/database.ts";

export const chainId = 84532;
export const faucet: Address = "0x00000000000000000000000000000000000000fa";
export const token: Address = "0x00000000000000000000000000000000000000dc";
export const walletOf = (n: number): Address => numberToHex(n + 0x1000, { size: 20 });
export const clientOf = (n: number): string => `203.0.113.${n}`;
/** Of a faucet that has no end. */
export const plenty: FaucetFunds = { block: 1000n, balance: 10n ** 30n, gas: 1n };

export let databaseUrl: string;
export let connection: Connection;

/** For the top of a test file: its own database, emptied after each test. */
export function withDesk(): void {
  beforeAll(async () => {
    databaseUrl = await freshDatabase();
    connection = connect(databaseUrl, { name: "test" });
    atEnd(() => connection.close());
  });
  afterEach(async () => {
    await connection.sql`
      truncate service.faucet_claim, service.faucet_slot, service.faucet_day, service.errand, service.transaction, service.stop
      cascade`;
  });
}

export const wish = (n: number, more: Partial<ClaimWish> = {}): ClaimWish => ({
  chainId,
  faucet,
  token,
  wallet: walletOf(n),
  client: clientOf(n),
  waitMs: 60_000,
  funds: plenty,
  ...more,
});

export const claim = (n: number, more: Partial<ClaimWish> = {}, by = connection): Promise<Gate> =>
  claimFaucet(by.sql, wish(n, more));

/** A claim that passes the gate; its id. */
export async function claimed(n: number, more: Partial<ClaimWish> = {}): Promise<string> {
  const gate = await claim(n, more);
  if (gate.outcome !== "claimed") throw new Error(gate.outcome);
  return gate.claimId;
}

export const outcomes = (gates: readonly Gate[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { outcome } of gates) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

export async function freeClaim(id: string): Promise<boolean> {
  const [row] = await connection.sql<{ freed: boolean }[]>`
    select service.free_claim(${id}, 'claim_expired', 'not signed in time') as freed`;
  return row?.freed ?? false;
}

/** What the tables hold in all: every claim that stands has two slots, a place in its day, and two transfers. */
export async function books() {
  const [row] = await connection.sql<
    Record<"claims" | "freed" | "slots" | "day" | "errands" | "wei", number>[]
  >`
    select (select count(*)::int from service.faucet_claim) as claims,
      (select count(*)::int from service.faucet_claim where freed_at is not null) as freed,
      (select count(*)::int from service.faucet_slot) as slots,
      (select coalesce(sum(claims), 0)::int from service.faucet_day) as day,
      (select count(*)::int from service.errand) as errands`;
  if (!row) throw new Error("no books");
  return row;
}

/** The rows that the writer makes when it signs a transfer of a claim. */
export async function sign(id: string, purpose: "faucet_ether" | "faucet_usdc", nonce = 0): Promise<void> {
  const { sql } = connection;
  await sql`insert into service.relayer_wallet (chain_id, address, role) values (${chainId}, ${faucet}, 'faucet')
    on conflict do nothing`;
  const hash = numberToHex(nonce + 1, { size: 32 });
  await sql.begin(async (tx) => {
    const [errand] = await tx<{ id: string }[]>`
      update service.errand set state = 'signed', tx_hash = ${hash}
      where claim_id = ${id} and purpose = ${purpose} and state = 'accepted' returning id`;
    if (!errand) throw new Error("nothing to sign");
    await tx`insert into service.transaction (chain_id, wallet, nonce, kind, errand_id, "to", data, gas_limit)
      values (${chainId}, ${faucet}, ${nonce}, 'errand', ${errand.id}, ${faucet}, '0x', 21000)`;
  });
}

/** A transfer is in a block. */
export async function mine(
  id: string,
  purpose: "faucet_ether" | "faucet_usdc",
  block: number,
): Promise<void> {
  await connection.sql`
    update service.errand set state = 'mined', tx_hash = ${numberToHex(block * 2 + (purpose === "faucet_usdc" ? 1 : 0), { size: 32 })},
      block_number = ${block}, block_hash = ${numberToHex(block, { size: 32 })}
    where claim_id = ${id} and purpose = ${purpose}`;
}
