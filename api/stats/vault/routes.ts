import { z } from "@hono/zod-openapi";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { dollars, nullableRatio, nullableUsdc, token, usdc } from "../fields.ts";
import { tokenPriceField } from "../token-price.ts";

const noPrice = "Null without `token_price`.";

export const vaultStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/vault",
  operationId: "getVaultStats",
  tags: ["stats"],
  summary: "Get the vault's reserve and what it has to pay",
  description:
    "Every figure is of the indexed block. Dollar values of the reserve use `token_price`: with the vault's own price they are what its contract computes.",
  responses: indexedResponses(
    "The vault. Amounts are 0 before the first event.",
    z
      .object({
        reserve_token: token("Protocol tokens that back the bonds.", "20000000000000000000000000"),
        reserve_usdc: nullableUsdc(`Their value at \`token_price\`. ${noPrice}`, "2000000000000"),
        reserved_usdc: usdc("Payouts reserved for open policies: the whole dollars of each.", "80000000000"),
        obligations_usd: dollars("What is owed: bonds in circulation and redemptions in the queue.", "84300"),
        capacity_usdc: nullableUsdc(
          `What new policies may pay out: half of \`reserve_usdc\` minus \`reserved_usdc\` and \`obligations_usd\`, not below 0, in whole dollars. ${noPrice}`,
          "1835700000000",
        ),
        utilisation: nullableRatio(
          "Part of what the vault may owe that is taken: `reserved_usdc` and `obligations_usd` divided by half of `reserve_usdc`. Above 1 where the price has fallen. Null without a price or a reserve.",
          "0.082150",
        ),
        solvency_ratio: nullableRatio(
          "`reserve_usdc` divided by `obligations_usd`: below 1 the reserve does not cover the bonds. Null without a price or obligations.",
          "23.724792",
        ),
        tvl_usdc: nullableUsdc(
          `Total value locked, as an adapter counts it: all tokens that back cover, which is \`reserve_usdc\`. They are the protocol's own token, which DefiLlama shows apart from other TVL. ${noPrice}`,
          "2000000000000",
        ),
        token_price: tokenPriceField,
      })
      .openapi("VaultStats"),
  ),
});
