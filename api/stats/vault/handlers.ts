import { SAFETY_FACTOR_BPS } from "../../../lib/vault-rules.ts";
import {
  BASIS_POINTS,
  UNIT,
  unused,
  usdcOfDollars,
  usdcOfVault,
  vaultOfUsdc,
} from "../../../lib/vault-units.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { ratio } from "../ratio.ts";
import type { StatsParts } from "../stats-parts.ts";
import { currentTokenPrice, readEventPrice, tokenPriceBody } from "../token-price.ts";
import { readVault, type VaultTotals } from "./queries.ts";
import { vaultStatsRoute } from "./routes.ts";

/** The figures as the vault computes them, for a price with 18 decimals. */
function vaultFigures({ reserve, totalReserved, owed }: VaultTotals, price: bigint | undefined) {
  const dollars = price === undefined ? null : (reserve * price) / UNIT;
  const value = dollars === null ? null : usdcOfVault(dollars);
  const limit = dollars === null ? null : (dollars * SAFETY_FACTOR_BPS) / BASIS_POINTS;
  const taken = vaultOfUsdc(totalReserved) + owed;
  // Whole dollars, as the vault tells it.
  const capacity = limit === null ? null : usdcOfDollars(unused(limit, taken) / UNIT);
  return {
    reserve_token: String(reserve),
    reserve_usdc: decimalOrNull(value),
    reserved_usdc: String(totalReserved),
    obligations_usd: String(owed / UNIT),
    capacity_usdc: decimalOrNull(capacity),
    utilisation: limit === null ? null : ratio(taken, limit),
    solvency_ratio: dollars === null ? null : ratio(dollars, owed),
    tvl_usdc: decimalOrNull(value),
  };
}

export function addVaultRoutes(app: Api, { index, responses, chain }: StatsParts): void {
  const vault = responses.define(
    (_: null) => index.read((db) => Promise.all([readVault(db), readEventPrice(db)])),
    async ([totals, named], _, asOf) => {
      const price = await currentTokenPrice(chain, named, asOf);
      return { ...vaultFigures(totals, price?.price), token_price: tokenPriceBody(price, asOf) };
    },
  );
  app.openapi(vaultStatsRoute, async (c) => responses.send(c, await vault(null), vaultStatsRoute));
}
