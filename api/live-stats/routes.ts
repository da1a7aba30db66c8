import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { DecimalString, Timestamp, UnixSeconds } from "../http/field-types.ts";
import { createRoute } from "../http/route.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const text = (description: string, example: string) => z.string().openapi({ description, example });
const source = (example: string) => text("Contract that the figures were read from.", example);

const tokenPrice = z.object({
  usd: z.number().openapi({ description: "USD, rounded to 6 places.", example: 0.1 }),
  price: decimal("USD, 18 decimals; 0 while the price oracle has none.", "100000000000000000"),
  updatedAt: UnixSeconds.openapi({ description: "Time of the block, Unix seconds; 0 without a price." }),
  source: source("priceOracle"),
});

export const LiveStats = z
  .object({
    tokenPrice: tokenPrice.openapi({ description: "Price of the protocol token." }),
    luminaPrice: tokenPrice.openapi({ description: "The same as `tokenPrice`." }),
    bondReserve: z
      .object({
        token: text("Tokens that back the bonds, with 2 places.", "50000000.00"),
        lumina: text("The same as `token`.", "50000000.00"),
        usd: text("What they are worth at `tokenPrice`, USD with 2 places.", "5000000.00"),
        amount: decimal("The tokens with 18 decimals.", "50000000000000000000000000"),
        source: source("bondVault"),
      })
      .openapi({ description: "The vault's reserve." }),
    capacity: z
      .object({
        usedPercent: text("Committed part of what the vault may owe.", "12.34%"),
        committedUSD: text("Whole dollars of `committed`.", "617000"),
        availableUSD: text("Whole dollars of `available`.", "4383000"),
        committed: decimal(
          "Payouts of open policies, and bonds not redeemed or not paid yet; USDC, 6 decimals.",
          "617000000000",
        ),
        available: decimal(
          "Free capacity for payouts, USDC, 6 decimals. Without a price it is that at the lowest price for redemptions.",
          "4383000000000",
        ),
        source: source("bondVault"),
      })
      .openapi({ description: "What the vault has promised, and can still promise." }),
    totalSupply: z
      .object({
        token: text("Whole tokens, with commas.", "99,999,000"),
        lumina: text("The same as `token`.", "99,999,000"),
        amount: decimal("The supply with 18 decimals.", "99999000000000000000000000"),
        source: source("protocolToken"),
      })
      .openapi({ description: "Supply of the protocol token: 100 million less the burned ones." }),
    chainStatus: z.object({
      chainId: z.int().openapi({ example: 8453 }),
      name: z.string().openapi({ example: "Base" }),
      blockNumber: z.int().openapi({ description: "The block of all figures.", example: 1234 }),
    }),
    lastUpdated: Timestamp.openapi({ description: "When the figures were read." }),
    stale: z.boolean().openapi({
      description: "True while the chain does not answer: then these are the last figures that were read.",
      example: false,
    }),
  })
  .openapi("LiveStats");

export type LiveStatsBody = z.infer<typeof LiveStats>;

export const liveStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/live-stats",
  operationId: "getLiveStats",
  tags: ["stats"],
  summary: "Get token price, reserve, capacity and supply",
  description: "Read from the contracts at one block, at most every 30 seconds.",
  responses: {
    200: { description: "The figures.", content: { "application/json": { schema: LiveStats } } },
    ...failures("internal_error", "health_contracts_incomplete", "chain_not_found"),
  },
});
