import { createHash } from "node:crypto";
import type { ISql, PendingQuery } from "postgres";
import type { Address } from "viem";
import type { Permit } from "../../lib/chain/permit.ts";
import { type Connection, isConnectionError } from "../../lib/db/connect.ts";
import {
  type Purchase,
  type PurchaseRequest,
  type PurchaseRow,
  purchaseColumns,
  purchaseOf,
} from "../../lib/ledger/purchase.ts";
import { readPurchases } from "../../lib/ledger/purchases.ts";
import { lower } from "../../lib/lower.ts";
import { type Funds, payable, type Refusal } from "./refusal-reasons.ts";

/** A purchase that a key's holder or the sandbox wants. `idempotencyKey` is valid per wallet. */
export type PurchaseIntent = {
  chainId: number;
  /** The cover router that sells it. */
  router: Address;
  /** The key's wallet, or the sandbox's. */
  wallet: Address;
  /** Null for a purchase of the sandbox. */
  keyId: number | null;
  idempotencyKey: string | null;
  /** `coverageAmount` has 6 decimals. */
  request: PurchaseRequest;
  /** The trace of the request, by `traceparentOf`; it is stored with the purchase that the request makes. */
  traceparent?: string | undefined;
};

/** A checked intent. `quotedPremium` is the premium that the router would take now, 6 decimals. */
export type QuotedIntent = PurchaseIntent & {
  quotedPremium: bigint;
  /** Needed only if the buyer has other purchases in flight: without it the refusal is `funds_unknown`. */
  funds: Funds | undefined;
  /** Signed by the buyer; `funds` has the allowance after it. */
  permit?: Permit | undefined;
};

/** `joined`: the purchase exists, and the caller waits for it or gets its outcome. `conflict`: the key belongs to another request. */
export type ExistingPurchase = { outcome: "joined"; purchase: Purchase } | { outcome: "conflict" };
/** `created`: this call made the purchase. `refused`: nothing was recorded. */
export type Acceptance =
  | ExistingPurchase
  | { outcome: "created"; purchase: Purchase }
  | { outcome: "refused"; by: Refusal };

/** A hash of the parsed request, so that the spelling of a request does not matter. */
function fingerprintOf({ chainId, request }: PurchaseIntent): string {
  const { productId, coverageAmount, asset, buyer } = request;
  const fields = [chainId, lower(productId), coverageAmount, lower(asset), lower(buyer)];
  return createHash("sha256").update(fields.join("\n")).digest("hex");
}

/** The existing purchase of this intent, if any; then no further check is needed. */
export async function findExistingPurchase(
  sql: ISql,
  intent: PurchaseIntent,
): Promise<ExistingPurchase | undefined> {
  const fingerprint = fingerprintOf(intent);
  const [row] = await sql<(PurchaseRow & { fingerprint: string })[]>`
    select ${purchaseColumns(sql)}, fingerprint from service.purchase_progress where id = (
      select s.id from service.existing_purchase(
        ${intent.chainId}, ${lower(intent.wallet)}, ${intent.idempotencyKey}, ${fingerprint}) s limit 1)`;
  if (!row) return undefined;
  if (row.fingerprint !== fingerprint) return { outcome: "conflict" };
  return { outcome: "joined", purchase: purchaseOf(row) };
}

const inputOf = (intent: QuotedIntent, n: number) => ({
  n,
  chain_id: intent.chainId,
  router: lower(intent.router),
  wallet: lower(intent.wallet),
  key_id: intent.keyId,
  idempotency_key: intent.idempotencyKey,
  fingerprint: fingerprintOf(intent),
  product_id: lower(intent.request.productId),
  coverage: String(intent.request.coverageAmount),
  asset: lower(intent.request.asset),
  buyer: lower(intent.request.buyer),
  premium: String(intent.quotedPremium),
  permit_value: intent.permit === undefined ? null : String(intent.permit.value),
  permit_deadline: intent.permit === undefined ? null : String(intent.permit.deadline),
  permit_signature: intent.permit?.signature ?? null,
  funds_block: intent.funds === undefined ? null : String(intent.funds.block),
  funds: intent.funds === undefined ? null : String(payable(intent.funds)),
});

type Row = { n: number } & (
  | { outcome: "created"; purchase_id: string; accepted_at: Date }
  | { outcome: "joined"; purchase_id: string }
  | { outcome: "conflict" }
  | { outcome: "revoked" }
  | { outcome: "stopped"; scope: "global" | "wallet" | "key" }
  | { outcome: "limited"; scope: "scope" | "product" }
  | { outcome: "limited"; scope: "purchase" | "day"; amount: string }
  | { outcome: "paused"; amount: string }
  | { outcome: "not_delegated"; amount: string | null }
  | { outcome: "permit_in_flight" }
  | { outcome: "funds_unknown" }
  | { outcome: "short_of_funds"; amount: string }
);

function refusalOf(row: Row, funds: Funds | undefined): Refusal | undefined {
  switch (row.outcome) {
    case "revoked":
      return { kind: "revoked" };
    case "stopped":
      return { kind: "stopped", scope: row.scope };
    case "limited":
      return row.scope === "purchase" || row.scope === "day"
        ? { kind: "limited", by: row.scope, most: BigInt(row.amount) }
        : { kind: "limited", by: row.scope };
    case "paused":
      return { kind: "paused", secondsLeft: Math.max(1, Number(row.amount)) };
    case "not_delegated":
      return { kind: "not_delegated", left: row.amount === null ? undefined : BigInt(row.amount) };
    case "short_of_funds":
      return funds && { kind: "short_of_funds", held: BigInt(row.amount), funds };
    case "permit_in_flight":
      return { kind: "permit_in_flight" };
    case "funds_unknown":
      return { kind: "funds_unknown" };
    default:
      return undefined;
  }
}

type Trace = { n: number; traceparent: string };

/** `accepted`, and in the same statement the traces of the purchases that it creates. */
const storingTraces = (sql: ISql, accepted: PendingQuery<Row[]>, traces: readonly Trace[]) => sql<Row[]>`
  with accepted as (${accepted}), stored as (
    insert into service.purchase_trace (purchase_id, traceparent)
    select a.purchase_id, t.traceparent
    from accepted a join json_to_recordset(${JSON.stringify(traces)}::text::json) as t (n integer, traceparent text) using (n)
    where a.outcome = 'created'
  )
  select * from accepted`;

/** Records them in one statement. */
async function acceptTogether(
  { sql }: Connection,
  intents: readonly QuotedIntent[],
): Promise<Map<QuotedIntent, Acceptance>> {
  const accepted = sql<Row[]>`
    select * from service.accept_purchases(${JSON.stringify(intents.map(inputOf))}::text::json)`;
  const traces = intents.flatMap(({ traceparent }, n) =>
    traceparent === undefined ? [] : { n, traceparent },
  );
  const rows = await sql<Row[]>`${traces.length === 0 ? accepted : storingTraces(sql, accepted, traces)}`;
  const joined = rows.flatMap((row) => (row.outcome === "joined" ? [row.purchase_id] : []));
  const existing = new Map((await readPurchases(sql, joined)).map((purchase) => [purchase.id, purchase]));
  const acceptances = new Map<QuotedIntent, Acceptance>();
  for (const row of rows) {
    const intent = intents[row.n];
    if (!intent) throw new Error("the database returned a purchase that was not sent");
    acceptances.set(intent, acceptanceOf(row, intent, existing));
  }
  return acceptances;
}

function acceptanceOf(row: Row, intent: QuotedIntent, existing: ReadonlyMap<string, Purchase>): Acceptance {
  if (row.outcome === "conflict") return { outcome: "conflict" };
  if (row.outcome === "created") {
    const { chainId, wallet, request } = intent;
    const lowercase = {
      ...request,
      productId: lower(request.productId),
      asset: lower(request.asset),
      buyer: lower(request.buyer),
    };
    const purchase: Purchase = {
      id: row.purchase_id,
      chainId,
      wallet: lower(wallet),
      request: lowercase,
      createdAt: row.accepted_at,
      state: "accepted",
    };
    return { outcome: "created", purchase };
  }
  if (row.outcome === "joined") {
    const purchase = existing.get(row.purchase_id);
    if (purchase) return { outcome: "joined", purchase };
  }
  const by = refusalOf(row, intent.funds);
  if (by) return { outcome: "refused", by };
  throw new Error(`the database answered ${row.outcome} without its purchase or funds`);
}

/**
 * Records purchases, each once: unique indexes decide, so that any number of concurrent calls make one row. A purchase that
 * failed without a transaction, or was replaced for good, frees its key. Without a key a call joins an identical purchase
 * of the same wallet until a caller has received its outcome: a client that repeats a call after a 503 must not buy twice.
 * Purchases of one buyer together stay within its funds and within a delegation's cap, those of a key within its daily limit,
 * whichever processes record them. Throws when the database cannot be reached.
 */
export async function acceptPurchases(
  connection: Connection,
  intents: readonly QuotedIntent[],
): Promise<ReadonlyMap<QuotedIntent, Acceptance>> {
  try {
    return await acceptTogether(connection, intents);
  } catch (error) {
    // A purchase that cannot be stored, or a deadlock that Postgres has resolved, must not fail the others.
    if (intents.length === 1 || isConnectionError(error)) throw error;
    const settled = await Promise.allSettled(intents.map((intent) => acceptTogether(connection, [intent])));
    const acceptances = settled.flatMap((one) => (one.status === "fulfilled" ? [...one.value] : []));
    if (acceptances.length === 0) throw error;
    return new Map(acceptances);
  }
}
