import { assetBytes32, assetSymbols } from "../../../lib/products.ts";
import type { ProductSums } from "../products/queries.ts";
import { EXPIRY_ENDS, type OpenPolicies } from "./queries.ts";

const sumOf = (rows: readonly OpenPolicies[]) => ({
  policies: rows.reduce((sum, row) => sum + row.policies, 0),
  coverage: String(rows.reduce((sum, row) => sum + row.coverage, 0n)),
  payout: String(rows.reduce((sum, row) => sum + row.payout, 0n)),
});

const byStatus = (rows: readonly OpenPolicies[]) => ({
  active: sumOf(rows.filter(({ waiting }) => !waiting)),
  waiting: sumOf(rows.filter(({ waiting }) => waiting)),
});

/** The symbol of an asset that has a feed. */
const symbolOf = (asset: string | null) =>
  assetSymbols.find((symbol) => assetBytes32(symbol) === asset) ?? null;

export function coverBody(open: readonly OpenPolicies[], products: readonly ProductSums[]) {
  const assets = [...new Set(open.map(({ asset }) => asset))].sort((a, b) =>
    (a ?? "~") < (b ?? "~") ? -1 : 1,
  );
  return {
    ...byStatus(open),
    by_product: products.map(({ productId, name }) => ({
      product_id: productId,
      product_name: name,
      ...byStatus(open.filter((row) => row.product_id === productId)),
    })),
    by_asset: assets.map((asset) => ({
      asset,
      symbol: symbolOf(asset),
      ...byStatus(open.filter((row) => row.asset === asset)),
    })),
    by_expiry: [...EXPIRY_ENDS, null].map((end, range) => ({
      after_seconds: EXPIRY_ENDS[range - 1] ?? 0,
      within_seconds: end,
      ...byStatus(open.filter((row) => row.range === range)),
    })),
  };
}
