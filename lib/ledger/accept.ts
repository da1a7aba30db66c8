import { createHash } from "node:crypto";
import { and, eq, isNotNull, isNull, ne, not, or, type SQL, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../db/connect.ts";
import { type Funds, type Hindrance, hindranceOf, lockBuyer } from "./guards.ts";
import { lower } from "./lower.ts";
import { type Purchase, type PurchaseRequest, purchaseOf } from "./purchase.ts";
import { purchaseTable } from "./tables.ts";

/**
 * A purchase that a key asks for. `idempotencyKey` counts per wallet; `coverageAmount` and `quotedPremium` have 6
 * decimals.
 */
export type NewPurchase = {
  chainId: number;
  wallet: Address;
  keyId: number;
  idempotencyKey: string | null;
  request: PurchaseRequest;
  /** What the router would take from the buyer now. */
  quotedPremium: bigint;
};

/** What stands already for a wish: the caller may wait for it or replay its outcome, or its key means another request. */
export type Standing = { outcome: "joined"; purchase: Purchase } | { outcome: "conflict" };
/** `created`: this call made the purchase. `hindered`: nothing was recorded. */
export type Acceptance =
  | Standing
  | { outcome: "created"; purchase: Purchase }
  | { outcome: "hindered"; by: Hindrance };

type Wish = Omit<NewPurchase, "quotedPremium">;
type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0];

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
const unheardForLong = sql`(${purchaseTable.state} in ('mined', 'confirmed', 'failed', 'replaced')
  and ${purchaseTable.updatedAt} < now() - make_interval(mins => ${UNHEARD_MINUTES}))`;

const sameContent = (p: Wish, fingerprint: string): SQL | undefined =>
  and(
    eq(purchaseTable.wallet, lower(p.wallet)),
    eq(purchaseTable.chainId, p.chainId),
    eq(purchaseTable.fingerprint, fingerprint),
    isNull(purchaseTable.idempotencyKey),
    purchaseTable.joinable,
  );

/**
 * The row that stands in the way of a new one: of the same key, or, without a key, of the same content and with an
 * outcome that is open or that no caller has been told.
 */
function rival(p: Wish, fingerprint: string): SQL | undefined {
  if (p.idempotencyKey === null) return and(sameContent(p, fingerprint), not(unheardForLong));
  return and(
    eq(purchaseTable.wallet, lower(p.wallet)),
    eq(purchaseTable.idempotencyKey, p.idempotencyKey),
    or(ne(purchaseTable.state, "failed"), isNotNull(purchaseTable.txHash)),
    or(ne(purchaseTable.state, "replaced"), isNull(purchaseTable.finalAt)),
  );
}

/** What already stands for this wish, if anything does; a caller that finds it need check nothing more. */
export async function findStanding(db: Database | Transaction, p: Wish): Promise<Standing | undefined> {
  const fingerprint = fingerprintOf(p.chainId, p.request);
  const [existing] = await db.select().from(purchaseTable).where(rival(p, fingerprint)).limit(1);
  if (!existing) return undefined;
  if (existing.fingerprint !== fingerprint) return { outcome: "conflict" };
  return { outcome: "joined", purchase: purchaseOf(existing) };
}

async function insert(
  tx: Transaction,
  p: NewPurchase,
  delegationId: number | null,
): Promise<Purchase | undefined> {
  const fingerprint = fingerprintOf(p.chainId, p.request);
  const { productId, coverageAmount, asset, buyer } = p.request;
  if (p.idempotencyKey === null) {
    await tx
      .update(purchaseTable)
      .set({ joinable: false })
      .where(and(sameContent(p, fingerprint), unheardForLong));
  }
  const [created] = await tx
    .insert(purchaseTable)
    .values({
      chainId: p.chainId,
      wallet: lower(p.wallet),
      keyId: p.keyId,
      idempotencyKey: p.idempotencyKey,
      fingerprint,
      productId: lower(productId),
      coverageAmount,
      asset: lower(asset),
      buyer: lower(buyer),
      quotedPremium: p.quotedPremium,
      delegationId,
    })
    .onConflictDoNothing()
    .returning();
  return created && purchaseOf(created);
}

/**
 * Records that a purchase is wanted, once: unique indexes decide, so that any number of calls at the same moment make
 * one row. A purchase that ended without having bought anything, and certainly cannot any more, no longer holds its key.
 * Without a key, a call joins an identical one of the same wallet whose fate is open, or whose outcome no caller has been
 * told: a client that repeats what was answered with 503 must not buy twice.
 *
 * Calls for the same buyer take turns, so that together they stay within its funds and within a delegation's cap.
 * `funds` are only asked for, as the hindrance `funds_unknown`, when the buyer has other purchases on their way.
 * Throws when the database cannot be reached.
 */
export async function acceptPurchase(
  db: Database,
  p: NewPurchase,
  funds: Funds | undefined,
): Promise<Acceptance> {
  // The rival can end and free its place between two statements; it then takes another round.
  for (let round = 0; round < 10; round += 1) {
    const acceptance = await db.transaction(async (tx): Promise<Acceptance | undefined> => {
      const [, standing] = await Promise.all([
        lockBuyer(tx, p.chainId, p.request.buyer),
        findStanding(tx, p),
      ]);
      if (standing) return standing;
      const leave = await hindranceOf(tx, p, funds);
      if (leave.kind !== "none") return { outcome: "hindered", by: leave };
      const purchase = await insert(tx, p, leave.delegationId);
      return purchase && { outcome: "created", purchase };
    });
    if (acceptance) return acceptance;
  }
  throw new Error("a purchase of the same key came and went ten times in a row");
}
