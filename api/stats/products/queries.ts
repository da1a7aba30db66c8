/** Reads the sums of each product, over all of history or over the policies of a period. */
import { sql } from "drizzle-orm";
import { type Hex, isHex } from "viem";
import { z } from "zod";
import { hasStatus } from "../../../lib/indexed/policy-status.ts";
import { entryById } from "../../../lib/products.ts";
import { policy, product, productStats, replacedPolicy } from "../../../ponder.schema.ts";
import type { Period } from "../../http/paging.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { after, walkBack } from "../../indexed/walk.ts";
import { readOpenCover } from "../cover/queries.ts";

type Named = {
  readonly productId: Hex;
  /** Null when unknown. */
  readonly name: string | null;
  readonly asset: Hex | null;
};

/** Sums over policies; amounts as in `productStats`. */
type Sums = Omit<typeof productStats.$inferSelect, "productId">;

/** A product's sums over all its policies. */
export type ProductSums = Named & Sums;

/** Sums over policies, and how many of these are open now. */
export type Figures = Sums & { readonly active: number };
export type ProductFigures = Named & Figures;

const noSums: Sums = {
  ...{ policies: 0, triggered: 0, untouched: 0 },
  ...{ coverage: 0n, premium: 0n, payout: 0n, paid: 0n },
};
export const noFigures: Figures = { ...noSums, active: 0 };

/** Every product that an event has named, and every one with a row, by name and id; `none` stands for a row that is missing. */
async function byProduct<Row extends { readonly productId: Hex }>(
  db: IndexQuery,
  reading: Promise<readonly Row[]>,
  none: Omit<Row, "productId">,
): Promise<(Named & Omit<Row, "productId">)[]> {
  const [products, rows] = await Promise.all([
    db.select({ productId: product.productId, name: product.name, asset: product.asset }).from(product),
    reading,
  ]);
  const productIds = new Set([...products, ...rows].map(({ productId }) => productId));
  return [...productIds]
    .map((productId) => {
      const known = products.find((row) => row.productId === productId);
      const own = rows.find((row) => row.productId === productId) ?? none;
      const name = known?.name ?? entryById(productId)?.name ?? null;
      return { ...own, productId, name, asset: known?.asset ?? null };
    })
    .sort((a, b) => ((a.name ?? "~") + a.productId < (b.name ?? "~") + b.productId ? -1 : 1));
}

/** Reads the products with their sums. One row each. */
export const readProductSums = (db: IndexQuery): Promise<ProductSums[]> =>
  byProduct(db, db.select().from(productStats), noSums);

/** Reads the products' figures at `now`, Unix seconds: a row each, and each open policy. */
export async function readProductFigures(db: IndexQuery, now: Promise<bigint>): Promise<ProductFigures[]> {
  const [products, open] = await Promise.all([
    readProductSums(db),
    now.then((timestamp) => readOpenCover(db, timestamp)),
  ]);
  return products.map((one) => {
    const own = open.filter(({ product_id }) => product_id === one.productId);
    return { ...one, active: own.reduce((sum, { policies }) => sum + policies, 0) };
  });
}

const amount = z.string().transform(BigInt);
const figuresRow = z.object({
  productId: z.custom<Hex>((text) => isHex(text)),
  ...{ policies: z.int(), triggered: z.int(), untouched: z.int(), active: z.int() },
  ...{ coverage: amount, premium: amount, payout: amount, paid: amount },
});

/** Reads the products' figures at `now`, Unix seconds, over the policies that were bought in a period: each of these is read. */
export function readFiguresOfPeriod(db: IndexQuery, period: Period, now: bigint): Promise<ProductFigures[]> {
  // With one end alone Postgres expects a third of the table, and scans all of it.
  const { from = 0n, to = now + 1n } = period;
  const columns = sql`
    product_id, coverage, premium, payout, expires_at, triggered_at, bond_amount`;
  const bought = (table: typeof policy | typeof replacedPolicy) =>
    sql`from ${table} where ${walkBack(table, [], after(undefined), { from, to }).where}`;
  const isActive = hasStatus(policy, "Active", now);
  async function read() {
    const rows = await db.execute(sql`
      select product_id as "productId", count(*)::integer as policies, count(triggered_at)::integer as triggered,
        (count(*) filter (where triggered_at is null and expires_at is not null))::integer as untouched,
        (count(*) filter (where is_active))::integer as active,
        sum(coverage)::text as coverage, sum(premium)::text as premium, sum(payout)::text as payout,
        coalesce(sum(bond_amount), 0)::text as paid
      from (
        select ${columns}, ${isActive} as is_active ${bought(policy)}
        union all
        select ${columns}, false ${bought(replacedPolicy)}) bought
      group by 1`);
    return z.array(figuresRow).parse([...rows]);
  }
  return byProduct(db, read(), noFigures);
}
