import { createHash } from "node:crypto";
import { and, eq, inArray, isNotNull, isNull, ne, not, or, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../db/connect.ts";
import { lower } from "./lower.ts";
import { type Purchase, type PurchaseRequest, purchaseOf } from "./purchase.ts";
import { purchaseTable } from "./tables.ts";

/** A purchase that a key asks for. `idempotencyKey` counts per wallet; `coverageAmount` has 6 decimals. */
export type NewPurchase = {
  chainId: number;
  wallet: Address;
  keyId: number;
  idempotencyKey: string | null;
  request: PurchaseRequest;
};

/**
 * `created`: this call made the purchase. `joined`: it was there already, and the caller may wait for it or replay its
 * outcome. `conflict`: the idempotency key stands for another request.
 */
export type Acceptance =
  | { outcome: "created"; purchase: Purchase }
  | { outcome: "joined"; purchase: Purchase }
  | { outcome: "conflict" };

/** A hash of the parsed request, so that the same wish in other letters is the same request. */
function fingerprintOf(
  chainId: number,
  { productId, coverageAmount, asset, buyer }: PurchaseRequest,
): string {
  const fields = [chainId, lower(productId), coverageAmount, lower(asset), lower(buyer)];
  return createHash("sha256").update(fields.join("\n")).digest("hex");
}

/** So long a client that was told to try again is expected to come back for the outcome of a purchase without a key. */
const UNHEARD_MINUTES = 10;
const unheardForLong = sql`(${purchaseTable.state} in ('mined', 'confirmed', 'failed')
  and ${purchaseTable.updatedAt} < now() - make_interval(mins => ${UNHEARD_MINUTES}))`;

/**
 * The row that stands in the way of a new one: of the same key, or, without a key, of the same content and with an
 * outcome that is open or that no caller has been told.
 */
function rival(p: NewPurchase, fingerprint: string) {
  const sameWallet = eq(purchaseTable.wallet, lower(p.wallet));
  if (p.idempotencyKey === null) {
    return and(
      sameWallet,
      eq(purchaseTable.chainId, p.chainId),
      eq(purchaseTable.fingerprint, fingerprint),
      isNull(purchaseTable.idempotencyKey),
      purchaseTable.joinable,
      not(unheardForLong),
    );
  }
  return and(
    sameWallet,
    eq(purchaseTable.idempotencyKey, p.idempotencyKey),
    or(ne(purchaseTable.state, "failed"), isNotNull(purchaseTable.txHash)),
  );
}

/** What already stands for this wish, if anything does; a caller that finds it need check nothing more. */
export async function findStanding(
  db: Database,
  p: NewPurchase,
): Promise<Exclude<Acceptance, { outcome: "created" }> | undefined> {
  const fingerprint = fingerprintOf(p.chainId, p.request);
  const [existing] = await db.select().from(purchaseTable).where(rival(p, fingerprint)).limit(1);
  if (!existing) return undefined;
  if (existing.fingerprint !== fingerprint) return { outcome: "conflict" };
  return { outcome: "joined", purchase: purchaseOf(existing) };
}

/**
 * Records that a purchase is wanted, once: unique indexes decide, so that any number of calls at the same moment make
 * one row. A purchase that failed without a signed transaction has spent nothing and no longer holds its key. Without
 * a key, a call joins an identical one of the same wallet whose fate is open, or whose outcome no caller has been told: a client
 * that repeats what was answered with 503 must not buy twice. Throws when the database cannot be reached.
 */
export async function acceptPurchase(db: Database, p: NewPurchase): Promise<Acceptance> {
  const fingerprint = fingerprintOf(p.chainId, p.request);
  const { productId, coverageAmount, asset, buyer } = p.request;
  const values = {
    chainId: p.chainId,
    wallet: lower(p.wallet),
    keyId: p.keyId,
    idempotencyKey: p.idempotencyKey,
    fingerprint,
    productId: lower(productId),
    coverageAmount,
    asset: lower(asset),
    buyer: lower(buyer),
  };
  if (p.idempotencyKey === null) {
    await db
      .update(purchaseTable)
      .set({ joinable: false })
      .where(
        and(
          eq(purchaseTable.wallet, values.wallet),
          eq(purchaseTable.chainId, p.chainId),
          eq(purchaseTable.fingerprint, fingerprint),
          purchaseTable.joinable,
          unheardForLong,
        ),
      );
  }
  // The rival can fail and free its place between the two statements; it then takes another round.
  for (let round = 0; round < 10; round += 1) {
    const [created] = await db.insert(purchaseTable).values(values).onConflictDoNothing().returning();
    if (created) return { outcome: "created", purchase: purchaseOf(created) };
    const standing = await findStanding(db, p);
    if (standing) return standing;
  }
  throw new Error("a purchase of the same key came and went ten times in a row");
}

/** A caller is being told the outcome: the same wish without a key is from now on another purchase. */
export async function noteTold(db: Database, id: string): Promise<void> {
  await db
    .update(purchaseTable)
    .set({ joinable: false })
    .where(and(eq(purchaseTable.id, id), purchaseTable.joinable));
}

/** Reads one purchase; undefined when no row has this id. */
export async function readPurchase(db: Database, id: string): Promise<Purchase | undefined> {
  const [row] = await readPurchases(db, [id]);
  return row;
}

/** Reads several purchases in one query, in no particular order; unknown ids are left out. */
export async function readPurchases(db: Database, ids: readonly string[]): Promise<Purchase[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select()
    .from(purchaseTable)
    .where(inArray(purchaseTable.id, [...ids]));
  return rows.map(purchaseOf);
}
