import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { ratio } from "../ratio.ts";
import type { StatsParts } from "../stats-parts.ts";
import { readTokenPrice, tokenPriceBody } from "../token-price.ts";
import { readVault, type VaultTotals } from "./queries.ts";
import { vaultStatsRoute } from "./routes.ts";

/** A dollar in USDC's units. */
const DOLLAR = 1_000_000n;
/** Tokens and prices have 18 decimals, USDC 6. */
const TOKEN_PRICE_TO_USDC = 10n ** 30n;

/** The figures as `BondVault` computes them (`_capacityAt`), for a price with 18 decimals. */
function vaultFigures({ reserve, totalReserved, obligations }: VaultTotals, price: bigint | undefined) {
  const value = price === undefined ? null : (reserve * price) / TOKEN_PRICE_TO_USDC;
  const owed = obligations * DOLLAR;
  const taken = totalReserved + owed;
  const capacity = value === null ? null : value > taken ? value - taken : 0n;
  return {
    reserve_token: String(reserve),
    reserve_usdc: decimalOrNull(value),
    reserved_usdc: String(totalReserved),
    obligations_usd: String(obligations),
    capacity_usdc: decimalOrNull(capacity),
    utilisation: value === null ? null : ratio(taken, value),
    solvency_ratio: value === null ? null : ratio(value, owed),
    tvl_usdc: decimalOrNull(value),
  };
}

export function addVaultRoutes(app: Api, { index, responses }: StatsParts): void {
  const vault = responses.define(
    (_: null) => index.read((db) => Promise.all([readVault(db), readTokenPrice(db)])),
    ([totals, price], _, asOf) => ({
      ...vaultFigures(totals, price?.price),
      token_price: tokenPriceBody(price, asOf),
    }),
  );
  app.openapi(vaultStatsRoute, async (c) => responses.send(c, await vault(null), vaultStatsRoute));
}
