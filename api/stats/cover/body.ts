import { assetBytes32, assetSymbols } from "../../../lib/products.ts";
import type { ProductSums } from "../products/queries.ts";
import { EXPIRY_ENDS, type OpenPolicies } from "./queries.ts";

const sumOf = (rows: readonly OpenPolicies[]) => ({
  policies: rows.reduce((sum, row) => sum + row.policies, 0),
  coverage: String(rows.reduce((sum, row) => sum + row.coverage, 0n)),
  payout: String(rows.reduce((sum, row) => sum + row.payout, 0n)),
});

/** The symbol of an asset that has a feed. */
const symbolOf = (asset: string | null) =>
  assetSymbols.find((symbol) => assetBytes32(symbol) === asset) ?? null;

export function coverBody(open: readonly OpenPolicies[], products: readonly ProductSums[]) {
  const assets = [...new Set(open.map(({ asset }) => asset))].sort((a, b) =>
    (a ?? "~") < (b ?? "~") ? -1 : 1,
  );
  return {
    active: sumOf(open),
    by_product: products.map(({ productId, name }) => ({
      product_id: productId,
      product_name: name,
      active: sumOf(open.filter((row) => row.product_id === productId)),
    })),
    by_asset: assets.map((asset) => ({
      asset,
      symbol: symbolOf(asset),
      active: sumOf(open.filter((row) => row.asset === asset)),
    })),
    by_expiry: [...EXPIRY_ENDS, null].map((end, range) => ({
      after_seconds: EXPIRY_ENDS[range - 1] ?? 0,
      within_seconds: end,
      active: sumOf(open.filter((row) => row.range === range)),
    })),
  };
}
