import { createHash } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import type { Address } from "viem";
import { type Connection, type Database, isConnectionError } from "../../lib/db/connect.ts";
import { type Purchase, type PurchaseRequest, purchaseOf } from "../../lib/ledger/purchase.ts";
import { readPurchases } from "../../lib/ledger/purchases.ts";
import { purchaseTable } from "../../lib/ledger/tables.ts";
import { lower } from "../../lib/lower.ts";
import { type Funds, type Hindrance, payable } from "./guards.ts";

/** A purchase that a key asks for, or the sandbox. `idempotencyKey` counts per wallet. */
export type Wish = {
  chainId: number;
  /** The cover router that sells. */
  router: Address;
  /** The key's, or the sandbox's. */
  wallet: Address;
  /** Null for a purchase of the sandbox. */
  keyId: number | null;
  idempotencyKey: string | null;
  /** `coverageAmount` has 6 decimals. */
  request: PurchaseRequest;
};

/** A wish that may be granted. `quotedPremium` is what the router would take from the buyer now, 6 decimals. */
export type NewPurchase = Wish & {
  quotedPremium: bigint;
  /** Only asked for, as the hindrance `funds_unknown`, when the buyer has other purchases on their way. */
  funds: Funds | undefined;
};

/** What stands already for a wish: the caller may wait for it or replay its outcome, or its key means another request. */
export type Standing = { outcome: "joined"; purchase: Purchase } | { outcome: "conflict" };
/** `created`: this call made the purchase. `hindered`: nothing was recorded. */
export type Acceptance =
  | Standing
  | { outcome: "created"; purchase: Purchase }
  | { outcome: "hindered"; by: Hindrance };

/** A hash of the parsed request, so that the same wish in other letters is the same request. */
function fingerprintOf({ chainId, request }: Wish): string {
  const { productId, coverageAmount, asset, buyer } = request;
  const fields = [chainId, lower(productId), coverageAmount, lower(asset), lower(buyer)];
  return createHash("sha256").update(fields.join("\n")).digest("hex");
}

/** What already stands for this wish, if anything does; a caller that finds it need check nothing more. */
export async function findStanding(db: Database, wish: Wish): Promise<Standing | undefined> {
  const fingerprint = fingerprintOf(wish);
  const standing = sql`(select id from service.standing_purchase(
    ${wish.chainId}, ${lower(wish.wallet)}, ${wish.idempotencyKey}, ${fingerprint}) limit 1)`;
  const [row] = await db.select().from(purchaseTable).where(eq(purchaseTable.id, standing));
  if (!row) return undefined;
  if (row.fingerprint !== fingerprint) return { outcome: "conflict" };
  return { outcome: "joined", purchase: purchaseOf(row) };
}

const inputOf = (wish: NewPurchase, n: number) => ({
  n,
  chain_id: wish.chainId,
  router: lower(wish.router),
  wallet: lower(wish.wallet),
  key_id: wish.keyId,
  idempotency_key: wish.idempotencyKey,
  fingerprint: fingerprintOf(wish),
  product_id: lower(wish.request.productId),
  coverage: String(wish.request.coverageAmount),
  asset: lower(wish.request.asset),
  buyer: lower(wish.request.buyer),
  premium: String(wish.quotedPremium),
  funds_block: wish.funds === undefined ? null : String(wish.funds.block),
  funds: wish.funds === undefined ? null : String(payable(wish.funds)),
});

type Row = { n: number } & (
  | { outcome: "created"; purchase_id: string; accepted_ms: number }
  | { outcome: "joined"; purchase_id: string }
  | { outcome: "conflict" }
  | { outcome: "stopped"; scope: "global" | "wallet" | "key" }
  | { outcome: "resting"; amount: string }
  | { outcome: "not_delegated"; amount: string | null }
  | { outcome: "funds_unknown" }
  | { outcome: "short_of_funds"; amount: string }
);

function hindranceOf(row: Row, funds: Funds | undefined): Hindrance | undefined {
  switch (row.outcome) {
    case "stopped":
      return { kind: "stopped", scope: row.scope };
    case "resting":
      return { kind: "resting", secondsLeft: Math.max(1, Number(row.amount)) };
    case "not_delegated":
      return { kind: "not_delegated", left: row.amount === null ? undefined : BigInt(row.amount) };
    case "short_of_funds":
      return funds && { kind: "short_of_funds", held: BigInt(row.amount), funds };
    case "funds_unknown":
      return { kind: "funds_unknown" };
    default:
      return undefined;
  }
}

/** All in one statement. Those of one buyer follow each other, and buyers come in one order in every process. */
async function acceptTogether(
  { sql, db }: Connection,
  wishes: readonly NewPurchase[],
): Promise<Map<NewPurchase, Acceptance>> {
  const input = wishes
    .map(inputOf)
    .sort((a, b) => (a.buyer < b.buyer ? -1 : a.buyer > b.buyer ? 1 : a.n - b.n));
  const rows = await sql<Row[]>`
    select w.n, a.*, extract(epoch from a.accepted_at)::float8 * 1000 as accepted_ms from json_to_recordset(${JSON.stringify(input)}::text::json) as w (
      n int, chain_id int, router text, wallet text, key_id bigint, idempotency_key text, fingerprint text, product_id text,
      coverage numeric, asset text, buyer text, premium numeric, funds_block bigint, funds numeric),
    lateral service.accept_purchase(w.chain_id, w.router, w.wallet, w.key_id, w.idempotency_key, w.fingerprint, w.product_id,
      w.coverage, w.asset, w.buyer, w.premium, w.funds_block, w.funds) a`;
  const joined = rows.flatMap((row) => (row.outcome === "joined" ? [row.purchase_id] : []));
  const standing = new Map((await readPurchases(db, joined)).map((purchase) => [purchase.id, purchase]));
  const acceptances = new Map<NewPurchase, Acceptance>();
  for (const row of rows) {
    const wish = wishes[row.n];
    if (!wish) throw new Error("the database answered to a purchase that nobody asked for");
    acceptances.set(wish, acceptanceOf(row, wish, standing));
  }
  return acceptances;
}

function acceptanceOf(row: Row, wish: NewPurchase, standing: ReadonlyMap<string, Purchase>): Acceptance {
  if (row.outcome === "conflict") return { outcome: "conflict" };
  if (row.outcome === "created") {
    const { chainId, wallet, request } = wish;
    const createdAt = new Date(row.accepted_ms);
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
      createdAt,
      state: "accepted",
    };
    return { outcome: "created", purchase };
  }
  if (row.outcome === "joined") {
    const purchase = standing.get(row.purchase_id);
    if (purchase) return { outcome: "joined", purchase };
  }
  const by = hindranceOf(row, wish.funds);
  if (by) return { outcome: "hindered", by };
  throw new Error(`the database answered ${row.outcome} without what belongs to it`);
}

/**
 * Records purchases that are wanted, each once: unique indexes decide, so that any number of calls at the same moment make
 * one row. A purchase that ended without having bought anything, and certainly cannot any more, no longer holds its key.
 * Without a key, a call joins an identical one of the same wallet whose fate is open, or whose outcome no caller has been
 * told: a client that repeats what was answered with 503 must not buy twice. The purchases of one buyer take turns, so
 * that together they stay within its funds and within a delegation's cap. Throws when the database cannot be reached.
 */
export async function acceptPurchases(
  connection: Connection,
  wishes: readonly NewPurchase[],
): Promise<ReadonlyMap<NewPurchase, Acceptance>> {
  try {
    return await acceptTogether(connection, wishes);
  } catch (error) {
    // One that cannot be stored, or a circle of locks that Postgres has broken, must not take the others with it.
    if (wishes.length === 1 || isConnectionError(error)) throw error;
    const settled = await Promise.allSettled(wishes.map((wish) => acceptTogether(connection, [wish])));
    const acceptances = settled.flatMap((one) => (one.status === "fulfilled" ? [...one.value] : []));
    if (acceptances.length === 0) throw error;
    return new Map(acceptances);
  }
}
