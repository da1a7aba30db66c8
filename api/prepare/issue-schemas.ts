/** The issues of a prepared action in the OpenAPI document: one schema per code. */
import { z } from "@hono/zod-openapi";
import { Address, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";

const blocking = z.boolean().openapi({
  description:
    "True while the action would revert, whatever steps come before it. False where the steps remove the issue, or it only changes what the action does.",
  example: true,
});
const message = z
  .string()
  .openapi({ description: "The same for people.", example: "The bonds mature later." });
const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const address = (description: string) => Address.openapi({ description });
const time = (description: string) => UnixSeconds.openapi({ description });

const issue = <const Code extends string, Fields extends z.ZodRawShape>(
  code: Code,
  description: string,
  fields: Fields,
) => z.object({ code: z.literal(code).openapi({ description }), blocking, message, ...fields });

const compared = (actual: string, needed: string) => ({
  actual: decimal(actual, "0"),
  needed: decimal(needed, "913500000"),
});

export const PreparedIssue = z
  .union([
    issue("allowance", "The spender may take too little of the wallet's USDC. The approval step allows it.", {
      spender: address("The contract that takes the USDC."),
      ...compared("USDC that it may take, 6 decimals.", "USDC that it takes."),
    }),
    issue("permit_unsupported", "The token knows no permits: approve the cover router by a transaction.", {
      token: address("The token: USDC."),
    }),
    issue(
      "wallet_code",
      "The wallet has code, by which USDC judges its permit: where it is refused, the approval step takes its place.",
      {},
    ),
    issue("bond_approval", "The marketplace may not take the wallet's bonds. The approval step allows it.", {
      operator: address("The contract that takes the bonds."),
    }),
    issue("balance", "The wallet has too little of a token.", {
      token: address("The token: USDC."),
      ...compared("The wallet's balance, 6 decimals.", "What the action takes from it at once."),
    }),
    issue("bond_balance", "The wallet has too few bonds.", {
      epochId: decimal("The bond's epoch, YYYYMM.", "202812"),
      ...compared("The wallet's bonds of this epoch, whole dollars.", "Bonds that the action takes."),
    }),
    issue("below_minimum", "A field of the request is below the contracts' minimum.", {
      field: z.enum(["usdAmount", "amount", "totalPriceUsdc", "coverageAmount"]),
      ...compared("The request's value.", "The lowest value, in the same unit."),
    }),
    issue("above_maximum", "A field of the request is above the contracts' maximum.", {
      field: z.literal("coverageAmount"),
      ...compared("The request's value.", "The highest value, in the same unit."),
    }),
    issue("unknown_bond", "There are no bonds of this epoch.", {
      epochId: decimal("The bond's epoch, YYYYMM.", "202812"),
    }),
    issue("not_mature", "The bonds cannot be redeemed before they mature.", {
      maturesAt: time("First second in which they can be redeemed."),
    }),
    issue("not_listable", "The bonds have matured: the marketplace neither takes nor sells them.", {
      maturesAt: time("When the bonds matured."),
      listableFrom: time("First second in which they could be listed: 0."),
      listableUntil: time("Last second in which they could be listed or bought."),
    }),
    issue("transfer_not_allowed", "The owner of the bonds does not let the marketplace move them.", {
      operator: address("The marketplace."),
    }),
    issue("paused", "Sales are paused.", {
      scope: z.enum(["protocol", "router"]).openapi({
        description:
          "`protocol`: by the pause registry; `router`: by its owner, or because the token's price is too low or unknown. Both stop sales only.",
      }),
    }),
    issue("sequencer_down", "The chain's sequencer is down, or came back less than an hour ago.", {}),
    issue("price_stale", "The price that the contracts use is missing, or older than an hour.", {
      feed: address("The price feed, or the token's price oracle."),
      updatedAt: time("Time of the price; 0 without a price."),
    }),
    issue("price_too_low", "At so low a price of the protocol token the vault redeems nothing.", {
      ...compared("Price in USD, 18 decimals.", "The lowest price."),
    }),
    issue("insufficient_reserve", "The vault has too few protocol tokens.", {
      ...compared("Its tokens, 18 decimals.", "Tokens that the redemption pays."),
    }),
    issue(
      "throttled",
      "The redemption is above this week's throttle: it would be queued: its bonds are burned, and the next week pays it if it fits into that week's cap. Blocking, and nothing is queued, where it is above the wallet's own share of the throttle, or the queue is full.",
      {
        targetEpoch: nullableDecimal(
          "The week in which it can be paid: floor(Unix seconds / 7 days). Null where nothing is queued.",
          "2923",
        ),
        payableFrom: nullableDecimal(
          "Start of that week, Unix seconds. Null where nothing is queued.",
          "1767830400",
        ),
        ...compared(
          "What is left in this week at the token's price, to everybody or to the wallet: protocol tokens, 18 decimals.",
          "Tokens of the redemption.",
        ),
      },
    ),
    issue("listing_closed", "The listing was sold or cancelled.", {
      listingId: decimal("Id of the listing.", "17"),
    }),
    issue("not_seller", "Only the seller can cancel a listing.", { seller: address("The seller.") }),
    issue("nothing_to_withdraw", "The wallet's sales have credited nothing that it has not withdrawn.", {}),
    issue("already_finalized", "The policy was paid.", {
      status: z.literal("Triggered"),
    }),
    issue("expired", "The policy has expired.", {
      expiresAt: time("Last second in which it could be observed."),
    }),
    issue("not_triggered", "The feed's newest price is above the policy's trigger price.", {
      price: decimal("The feed's newest price in USD, 18 decimals.", "60100000000000000000000"),
      triggerPrice: decimal("The highest price that triggers, 18 decimals.", "58500000000000000000000"),
    }),
    issue("too_early", "The policy was bought or observed too short a time ago.", {
      from: time("The next observation is possible from then on."),
    }),
    issue(
      "keeper_closed",
      "No keeper contract can settle the policy now: there is none, it is paused, or the policy's adapter does not allow it, or is not the product's present one.",
      {},
    ),
    issue(
      "not_settleable",
      "The contracts would not observe the policy now, or could not pay it, or the service does not know the product's trigger price.",
      {
        reason: z.string().openapi({
          description: "The contracts' text; `NOT_SETTLEABLE_YET`: the newest round is observed already.",
          example: "NOT_SETTLEABLE_YET",
        }),
      },
    ),
    issue("product_inactive", "The product is not sold.", {}),
    issue("exceeds_capacity", "The payout exceeds the vault's free capacity.", {
      ...compared(
        "The vault's capacity, USDC with 6 decimals.",
        "The payout's whole dollars, which the vault reserves.",
      ),
    }),
  ])
  .openapi("PreparedIssue");

export type Issue = z.infer<typeof PreparedIssue>;

/** Every code of an issue. */
export const issueCodes: readonly Issue["code"][] = PreparedIssue.options.map(
  ({ shape }) => shape.code.value,
);
