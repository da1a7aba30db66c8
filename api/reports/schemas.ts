import { z } from "@hono/zod-openapi";
import {
  BOND_EPOCH,
  bondAmountInput,
  bondInputs,
  eitherBondName,
  namesBond,
  namesOneBond,
  usdcInput,
} from "../http/bond-inputs.ts";
import {
  Address,
  addressInput,
  BlockHash,
  bytes32Input,
  DecimalString,
  nullableDecimal,
  Timestamp,
  TxHash,
  uint256Input,
} from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";
import { reportKinds } from "./report.ts";

const TOKENS = "Protocol tokens received, 18 decimals; null until paid.";

const txHashInput = bytes32Input.openapi({
  description: "Hash of the transaction.",
  example: "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
});
const walletInput = (role: string) =>
  addressInput.openapi({ description: `The ${role}: the key's wallet, whoever sent the transaction.` });

const example = {
  txHash: "0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
  wallet: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
};

export const RedemptionRequest = requestObject({
  ...bondInputs,
  usdAmount: bondAmountInput.openapi({ description: "Redeemed bonds, whole dollars." }),
  txHash: txHashInput,
  ownerAddress: walletInput("holder of the bonds"),
})
  .refine(...namesBond)
  .refine(...namesOneBond)
  .openapi("RedemptionRequest", {
    anyOf: eitherBondName,
    example: { epochId: "202812", usdAmount: "800", txHash: example.txHash, ownerAddress: example.wallet },
  });

export const ListingRequest = requestObject({
  ...bondInputs,
  amount: bondAmountInput,
  totalPriceUsdc: usdcInput("Price of the whole listing."),
  txHash: txHashInput,
  sellerAddress: walletInput("seller"),
})
  .refine(...namesBond)
  .refine(...namesOneBond)
  .openapi("ListingRequest", {
    anyOf: eitherBondName,
    example: {
      bondId: "202812",
      amount: "800",
      totalPriceUsdc: "900000000",
      txHash: example.txHash,
      sellerAddress: example.wallet,
    },
  });

export const ListingPurchaseRequest = requestObject({
  listingId: uint256Input.openapi({ description: "Id of the listing.", example: "17" }),
  amount: bondAmountInput,
  totalPaidUsdc: usdcInput("The listing's price and the buyer's fee."),
  txHash: txHashInput,
  buyerAddress: walletInput("buyer"),
}).openapi("ListingPurchaseRequest", {
  example: {
    listingId: "17",
    amount: "800",
    totalPaidUsdc: "913500000",
    txHash: example.txHash,
    buyerAddress: example.wallet,
  },
});

/** The id of an entry of the redemption queue. */
const QUEUE_ID = "The week of its payment × 10,000, and its place among that week's entries, from 0.";

const reportId = z.uuid().openapi({
  description: "For `GET /api/v1/reports/{id}`.",
  example: "700bf5d5-c0cc-4436-94de-27031b1d28ee",
});
const integer = (description: string, sample: string) =>
  DecimalString.openapi({ description, example: sample });

const mined = {
  ok: z.literal(true),
  success: z.literal(true).openapi({ description: "The same as `ok`." }),
  reportId,
  txHash: TxHash,
  blockNumber: z.int().openapi({ description: "Block of the transaction.", example: 1234 }),
  blockHash: BlockHash,
  logIndex: z.int().openapi({ description: "Index of the event's log in its block.", example: 5 }),
};
const bond = {
  epochId: integer(BOND_EPOCH, "202812"),
  bondId: integer("The same as `epochId`.", "202812"),
  amount: integer("Bonds, whole dollars.", "800"),
};
const executedAt = Timestamp.openapi({ description: "Time of the block." });
const holdings = z
  .object({
    usdcBalance: integer("USDC, 6 decimals.", "1250000000"),
    withdrawableUsdc: integer(
      "What the marketplace holds for the wallet's sales: `withdraw` pays it. USDC, 6 decimals.",
      "0",
    ),
    bondBalance: integer("Bonds of the epoch, whole dollars; without listed ones.", "200"),
    openListing: z
      .object({
        listingId: integer("Id of the listing.", "17"),
        amount: integer("Listed bonds, whole dollars.", "800"),
        totalPriceUsdc: integer("Price of the whole listing, USDC, 6 decimals.", "900000000"),
      })
      .nullable()
      .openapi({
        description: "The reported listing while it is open; null once it is sold or cancelled.",
        example: null,
      }),
    asOfBlock: integer("The block that this describes: the newest one, not the transaction's.", "1240"),
  })
  .nullable()
  .openapi({
    description: "What the reporting wallet has now. Null when the chain's node did not tell in time.",
  });

export const redemptionFields = z.object({
  ...mined,
  ...bond,
  usdAmount: integer("The same as `amount`.", "800"),
  ownerAddress: Address.openapi({ description: "Holder of the redeemed bonds." }),
  status: z.enum(["redeemed", "queued", "paid", "stranded"]).openapi({
    description:
      "`redeemed`: paid in the reported transaction; `queued`: above the week's throttle, and paid in the next week if it fits into that week's cap, see `queue`; `paid`: paid from the queue; `stranded`: that week is over, and the vault pays the redemption no more.",
    example: "redeemed",
  }),
  tokenReceived: nullableDecimal(TOKENS, "8000000000000000000000"),
  luminaReceived: nullableDecimal("The same as `tokenReceived`.", "8000000000000000000000"),
  priceUsed: nullableDecimal("USD per token, 18 decimals; null until paid.", "100000000000000000"),
  executedAt,
  holdings,
  queue: z
    .object({
      queueId: nullableDecimal(`${QUEUE_ID} Null until the index has it.`, "29230001"),
      targetEpoch: integer(
        "The week of the redemption throttle in which it can be paid, and never after it.",
        "2923",
      ),
      payableFrom: Timestamp.openapi({
        description:
          "Start of that week. Then anybody may have the vault pay its entries, as far as the throttle allows.",
      }),
      payment: z
        .object({
          txHash: TxHash,
          paidAt: Timestamp.openapi({ description: "Time of the payment's block." }),
        })
        .nullable()
        .openapi({
          description: "The transaction that paid it; null until the index has it.",
          example: null,
        }),
    })
    .nullable()
    .openapi({ description: "Null unless it was queued.", example: null }),
});

export const listingFields = z.object({
  ...mined,
  ...bond,
  listingId: integer("Id of the new listing.", "17"),
  sellerAddress: Address.openapi({ description: "The seller." }),
  totalPriceUsdc: integer("Price of the whole listing, USDC, 6 decimals.", "900000000"),
  createdAt: executedAt,
  holdings,
});

export const listingPurchaseFields = z.object({
  ...mined,
  ...bond,
  listingId: integer("Id of the listing.", "17"),
  buyerAddress: Address.openapi({ description: "The buyer." }),
  sellerAddress: Address.openapi({ description: "The seller." }),
  totalPaidUsdc: integer("Price and buyer's fee, USDC, 6 decimals.", "913500000"),
  executedAt,
  holdings,
});

export const Redemption = redemptionFields.openapi("Redemption");
export const NewListing = listingFields.openapi("NewListing");
export const ListingPurchase = listingPurchaseFields.openapi("ListingPurchase");

export const Report = z
  .object({
    reportId,
    kind: z.enum(reportKinds).openapi({ description: "What was reported.", example: "redeem" }),
    status: z.enum(["pending", "recorded"]).openapi({
      description: "`pending`: the transaction is in no block yet; `recorded`: a block has it, as reported.",
      example: "pending",
    }),
    txHash: TxHash,
    walletAddress: Address.openapi({ description: "The wallet that reported it." }),
    reportedAt: Timestamp,
    redemption: redemptionFields.nullable().openapi({ description: "A recorded redemption.", example: null }),
    listing: listingFields.nullable().openapi({ description: "A recorded listing.", example: null }),
    purchase: listingPurchaseFields
      .nullable()
      .openapi({ description: "A recorded purchase of a listing.", example: null }),
  })
  .openapi("Report");

export type RedemptionBody = z.infer<typeof Redemption>;
export type NewListingBody = z.infer<typeof NewListing>;
export type ListingPurchaseBody = z.infer<typeof ListingPurchase>;
export type ReportBody = z.infer<typeof Report>;
