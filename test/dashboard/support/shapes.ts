/** What the tests read of the API's answers about bonds and their market. */
import { z } from "zod";

const ladder = z.object({
  minted_usd: z.string(),
  redeemed_usd: z.string(),
  queued_usd: z.string(),
  surrendered_usd: z.string(),
  outstanding_usd: z.string(),
  listed_usd: z.string(),
});
export const maturities = z.object({ epochs: z.array(ladder), total: ladder });

/** A vault with a price of the token, and with obligations. */
export const vault = z.object({
  reserve_usdc: z.string(),
  reserved_usdc: z.string(),
  obligations_usd: z.string(),
  capacity_usdc: z.string(),
  utilisation: z.string(),
  solvency_ratio: z.string(),
  token_price: z.object({ price: z.string() }),
});

export const queue = z.object({
  entries: z.array(z.object({ queue_id: z.string(), usd_amount: z.string(), ahead_usd: z.string() })),
  waiting: z.object({ usd: z.string(), due_usd: z.string() }),
  throttle: z.object({ paid_token: z.string(), left_token: z.string(), left_usdc: z.string() }),
});

export const holders = z.object({
  holders: z.array(z.object({ holder: z.string(), bonds_usd: z.string() })),
  holders_total: z.number(),
  by_epoch: z.array(z.object({ epoch_id: z.string(), holders: z.number(), outstanding_usd: z.string() })),
});

const sold = {
  sales: z.number(),
  sold_usd: z.string(),
  average_price: z.string().nullable(),
  volume_usdc: z.string(),
  fees_usdc: z.string(),
};
export const market = z.object({
  floor_price: z.string(),
  sales_24h: z.number(),
  volume_24h_usdc: z.string(),
  by_day: z.array(z.object(sold)),
  by_epoch: z.array(
    z.object({
      epoch_id: z.string(),
      listed_usd: z.string(),
      floor_price: z.string().nullable(),
      implied_yield: z.string().nullable(),
      ...sold,
    }),
  ),
});

export const marketTotals = z.object({ totalVolume: z.string(), totalFees: z.string() });

export const listings = z.object({
  listings: z.array(z.object({ listingId: z.string(), amount: z.string(), totalPriceUsdc: z.string() })),
});

export const sales = z.object({
  sales: z.array(
    z.object({
      amount: z.string(),
      totalPriceUsdc: z.string(),
      pricePerUnit: z.string(),
      sellerFeeUsdc: z.string(),
      buyerFeeUsdc: z.string(),
    }),
  ),
});

export const series = z.object({ buckets: z.array(z.object({ value: z.string() })) });
