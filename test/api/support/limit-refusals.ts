/** Purchases that are refused because of a limit: of their key, or of their own. */
import { z } from "zod";
import { admin } from "./api.ts";
import type { PurchaseCase } from "./purchase-case.ts";

const issued = z.object({ apiKey: z.string() });

/** Buys for 0.292 USDC with a key that has these limits. */
const withLimits =
  (limits: object): PurchaseCase["send"] =>
  async (setup, buyer) => {
    const body = { wallet: buyer.account.address, ...limits };
    const answer = await setup.request("/api/v1/keys/generate", { headers: admin, body });
    return buyer.buy({}, { "x-api-key": issued.parse(answer.json).apiKey });
  };

export const limitRefused: PurchaseCase[] = [
  {
    name: "a key without the scope `buy`",
    status: 403,
    code: "insufficient_scope",
    send: withLimits({ scopes: ["read"] }),
  },
  {
    name: "a product that the key may not buy",
    status: 403,
    code: "product_not_allowed",
    send: withLimits({ products: ["FLASHETH1H-001"] }),
  },
  {
    name: "a premium above the key's limit for one purchase",
    status: 403,
    code: "key_purchase_cap_exceeded",
    send: withLimits({ maxPremiumPerPurchase: "291999" }),
  },
  {
    name: "a premium above the key's limit for a day",
    status: 429,
    code: "key_daily_cap_reached",
    send: withLimits({ maxPremiumPerDay: "291999" }),
  },
  {
    name: "a premium above the purchase's own maxPremium",
    status: 422,
    code: "premium_above_maximum",
    send: (_setup, buyer) => buyer.buy({ maxPremium: "291999" }),
  },
];
