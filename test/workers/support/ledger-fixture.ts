/** The ledger's database alone, without a writer or a chain. */
import { randomUUID } from "node:crypto";
import type { TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { numberToHex } from "viem";
import { afterEach, beforeAll } from "vitest";
import { type Acceptance, acceptPurchases, type QuotedIntent } from "../../../api/buying/accept-purchases.ts";
import { asApi } from "../../../lib/db/api-role.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { prepareOwnerLogin } from "../../../lib/db/login-settings.ts";
import type { PurchaseRequest } from "../../../lib/ledger/purchase.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { assignNonces, type Call } from "../../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates } from "../../../workers/ledger/gas-spending.ts";
import { type Lease, startNonces, takeLease } from "../../../workers/ledger/leases.ts";
import { confirmBlocks, dropBlocks, settle } from "../../../workers/ledger/outcomes.ts";
import { type Form, type Signed, storeForms } from "../../../workers/ledger/transactions.ts";
import { SIGN_WITHIN_SECONDS } from "../../../workers/ledger/waiting.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { plenty } from "../../support/ledger.ts";
import { storeSignedFiller } from "./signed-filler.ts";

export const chainId = 8453;
export const wallet: Address = "0x00000000000000000000000000000000000000aa";
export const relayer: Address = "0x00000000000000000000000000000000000000bb";
/** Another client. */
export const other: Address = "0x00000000000000000000000000000000000000dd";
export const router: Address = "0x00000000000000000000000000000000000000cc";
export const word = (n: number): Hex => numberToHex(n, { size: 32 });
export const request: PurchaseRequest = {
  productId: word(1),
  coverageAmount: 100_000_000n,
  asset: word(2),
  buyer: wallet,
};

export let databaseUrl: string;
export let connection: Connection;
/** With the rights of the api. */
let api: Connection;
export let keyId: number;
/** A key of each wallet that buys. */
const keyIds = new Map<Address, number>();

/** Called at the top of a test file: gives it a database of its own, which is emptied after each test. */
export function useLedgerDatabase(): void {
  beforeAll(async () => {
    databaseUrl = await freshDatabase();
    await prepareOwnerLogin(databaseUrl);
    connection = connect(databaseUrl, { name: "test" });
    api = connect(asApi(databaseUrl), { name: "test-api" });
    atEnd(() => connection.close());
    atEnd(() => api.close());
    for (const holder of [wallet, relayer, other]) {
      const [key] = await connection.sql<{ id: string }[]>`
        insert into service.api_key (key_hash, wallet, tier) values (${holder}, ${holder}, 'paid') returning id`;
      keyIds.set(holder, Number(key?.id));
    }
    keyId = keyIds.get(wallet) ?? 0;
  });
  afterEach(async () => {
    await connection.sql`
      truncate service.purchase, service.permit, service.key_premium, service.purchase_trace, service.archived_purchase, service.waiting, service.transaction, service.attempt, service.buyer_revert,
        service.relayer_wallet, service.archived_nonce,
        service.gas_day`;
  });
}

export const newPurchase = (more: Partial<QuotedIntent> = {}): QuotedIntent => ({
  chainId,
  router,
  wallet,
  keyId: keyIds.get(more.wallet ?? wallet) ?? null,
  idempotencyKey: null,
  request,
  quotedPremium: 0n,
  funds: plenty,
  ...more,
});

export async function accept(purchase: QuotedIntent): Promise<Acceptance> {
  const acceptance = (await acceptPurchases(api, [purchase])).get(purchase);
  if (!acceptance) throw new Error("no answer");
  return acceptance;
}

export async function accepted(more: Partial<QuotedIntent> = {}): Promise<string> {
  const result = await accept(newPurchase({ idempotencyKey: randomUUID(), ...more }));
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.purchase.id;
}

let count = 0;
export const signer = async (nonce: number, call: Call): Promise<Signed> => {
  count += 1;
  return { hash: word(1_000_000 + count * 1000 + nonce), bytes: call.data, maxFee: 30n, priorityFee: 1n };
};
export const call: Call = { to: router, data: "0x1234", value: 0n, gasLimit: 21_000n };

export async function newLease(next = 0): Promise<Lease> {
  const lease = await takeLease(connection.sql, { chainId, address: relayer, owner: "me" });
  if (!lease) throw new Error("no lease");
  await startNonces(connection.sql, lease, next);
  return lease;
}
/** As if all empty transfers were mined. */
export const mineFillers = () => connection.sql`
  update service.transaction set hash = ${word(8)}, block_number = 7, block_hash = ${word(9)}, outcome = 'done', gas_cost = 0,
    settled_at = now() where kind = 'filler' and state = 'open'`;
/** A purchase's call at 30 wei per gas. */
export const wantedPurchase = (id: string) => ({
  id,
  calls: [{ kind: "purchase" as const, id, call, cost: call.gasLimit * 30n }],
});

/** Gives the purchases nonces, and stores nothing more: as a writer that dies before it signs. See `Assignment.verify`. */
export async function assign(
  lease: Lease,
  ids: readonly string[],
  verify?: (tx: TransactionSql) => Promise<void>,
) {
  const { assigned } = await assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, ids, SIGN_WITHIN_SECONDS),
    clients: (candidates: readonly Candidate[]) => candidates.map((candidate) => candidate.wallet),
    choose: (candidates) => ({ send: candidates.flatMap(({ id }) => wantedPurchase(id).calls) }),
    ...(verify && { verify }),
  });
  return assigned;
}

/** Gives the purchases nonces and stores their signed bytes. */
export async function sign(lease: Lease, ids: readonly string[]) {
  const assigned = await assign(lease, ids);
  const signed = await Promise.all(
    assigned.map(async ({ id, transactionId, nonce }) => ({
      id,
      transactionId,
      nonce,
      signed: await signer(nonce, call),
      cancels: false,
      cost: call.gasLimit * 30n,
    })),
  );
  await storeForms(connection.sql, lease, signed);
  return signed;
}

/** Another form of an open transaction. */
export const form = (transactionId: number, signed: Signed, cancels = false): Form => ({
  transactionId,
  signed,
  cancels,
  cost: call.gasLimit * signed.maxFee,
});

export const bought = (hash: Hex | undefined, block: number, policyId = 1n) => ({
  kind: "bought" as const,
  hash: hash ?? "0x",
  blockNumber: BigInt(block),
  blockHash: word(block),
  policyId,
  premiumPaid: 292_000n,
  gasCost: 100n,
});

/** Waits until a statement of this database waits for a lock. */
export const untilStatementWaits = () =>
  waitFor({
    what: "a statement to wait for a lock",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length > 0 || undefined;
    },
    intervalMs: 10,
  });

const block = (height: number) => ({ number: BigInt(height), hash: word(height) });
/** Makes the outcomes in the blocks at these heights final. */
export const confirm = (...heights: number[]) => confirmBlocks(connection.sql, chainId, heights.map(block));
/** Undoes the outcomes in the blocks at these heights. */
export const drop = (...heights: number[]) => dropBlocks(connection.sql, chainId, heights.map(block));

/** Signs purchases that are bought in the blocks at these heights, one each, and final. @returns their forms. */
export async function buyFinally(lease: Lease, ids: readonly string[], heights: readonly number[]) {
  const signed = await sign(lease, ids);
  const outcomes = heights.map((height, n) => bought(signed[n]?.signed.hash, height, BigInt(n)));
  await settle(connection.sql, outcomes);
  await confirm(...heights);
  return signed;
}

/** A filler that is mined in the block at this height. @returns its form's hash. */
export async function mineFiller(lease: Lease, nonce: number, height: number): Promise<Hex> {
  const hash = word(height * 1000 + nonce);
  await storeSignedFiller(connection.sql, lease, nonce, hash);
  const { number: blockNumber, hash: blockHash } = block(height);
  await settle(connection.sql, [{ kind: "done", hash, blockNumber, blockHash, gasCost: 1n }]);
  return hash;
}
