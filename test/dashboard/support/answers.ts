/** Answers of the API that the pages of cover and claims show. */
import { z } from "zod";

export const nearest = z.object({
  total: z.number(),
  policies: z.array(
    z.object({
      productId: z.string(),
      productName: z.string(),
      policyId: z.string(),
      coverageAmount: z.string(),
      currentPrice: z.string(),
      triggerPrice: z.string(),
    }),
  ),
});
export const history = z.object({ points: z.array(z.object({ price: z.string() })) });
export const claimFeed = z.object({
  claims: z.array(
    z.object({
      product_id: z.string(),
      product_name: z.string(),
      policy_id: z.string(),
      paid: z.string(),
      strike_price: z.string(),
      trigger_price: z.string(),
    }),
  ),
});
export type Claim = z.output<typeof claimFeed>["claims"][number];
