/** Issues of what the protocol has too little of. */
import { priceText, tokensText, usdcText } from "./amount-text.ts";
import type { Issue } from "./issue-schemas.ts";
import { compared } from "./issues.ts";

/** More than a contract has; undefined when it has enough. `amount` is how people read it. */
const exceeds =
  (
    code: "insufficient_reserve" | "exceeds_capacity" | "price_too_low",
    text: string,
    amount: (value: bigint) => string,
  ) =>
  (actual: bigint, needed: bigint): Issue | undefined =>
    actual >= needed
      ? undefined
      : {
          code,
          blocking: true,
          message: `${text}: ${amount(actual)} of ${amount(needed)}.`,
          ...compared(actual, needed),
        };

/** Protocol tokens, 18 decimals. */
export const reserveIssue = exceeds(
  "insufficient_reserve",
  "The vault has too few protocol tokens",
  tokensText,
);
/** USDC, 6 decimals. */
export const capacityIssue = exceeds(
  "exceeds_capacity",
  "The vault's free capacity is below the payout",
  usdcText,
);
/** USD, 18 decimals. */
export const tokenPriceIssue = exceeds(
  "price_too_low",
  "The protocol token's price is too low to redeem",
  priceText,
);
