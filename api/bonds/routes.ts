import { z } from "@hono/zod-openapi";
import { scanDescription, scanResponses, walletParam } from "../chain/documented-responses.ts";
import { failures } from "../http/error-envelope.ts";
import {
  Address,
  addressInput,
  DecimalString,
  nullableDecimal,
  nullableTimestamp,
} from "../http/field-types.ts";
import { limitInput, offsetInput } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedBlockHeader, indexedResponses } from "../indexed/documented-responses.ts";
import { bondStatuses } from "./body.ts";

const epoch = DecimalString.openapi({
  description: "The month of maturity, YYYYMM, which is the bond's id.",
  example: "202812",
});
const dollars = (description: string) => DecimalString.openapi({ description, example: "800" });

const withdrawableUsdc = DecimalString.openapi({
  description:
    "Proceeds of the owner's sales that the marketplace holds until its `withdraw` is called (`POST /api/v1/marketplace/withdraw/prepare`), USDC, 6 decimals.",
  example: "0",
});

const BondHolding = z
  .object({
    bondId: epoch,
    epochId: epoch,
    owner: Address,
    amount: dollars("Bonds held, in whole dollars of face value."),
    faceValueUsd: dollars("Face value in whole dollars, equal to the amount."),
    maturityDate: nullableDecimal(
      "When they become redeemable, Unix seconds; null when unknown.",
      "1861919999",
    ),
    matured: z.boolean().openapi({ description: "Whether they are redeemable at the block's time." }),
  })
  .openapi("BondHolding");

const bondPageQuery = requestObject({ limit: limitInput(), offset: offsetInput });

/** The bonds of one address, from the index or the chain. */
const BondList = z
  .object({
    owner: Address,
    count: z.int().openapi({ description: "Epochs in this response.", example: 1 }),
    total: z.int().openapi({ description: "Epochs in which the owner holds bonds.", example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    offset: z.int().openapi({ example: 0 }),
    totalAmount: dollars("Bonds held in all epochs."),
    withdrawableUsdc,
    bonds: z.array(BondHolding),
  })
  .openapi("BondList");

export const bondsByOwnerRoute = createRoute({
  method: "get",
  path: "/api/v1/bonds/by-owner/{address}",
  operationId: "listBondsByOwner",
  tags: ["bonds"],
  summary: "List an owner's bonds",
  description:
    "Net holdings: without bonds that were sold, escrowed for a listing, redeemed, queued for redemption, or surrendered.",
  request: { params: z.object({ address: addressInput }), query: bondPageQuery },
  responses: indexedResponses(
    "Epochs with a balance above zero, earliest maturity first.",
    BondList,
    "validation_error",
  ),
});

export const liveBondsRoute = createRoute({
  method: "get",
  path: "/api/v1/public/bonds/{wallet}",
  operationId: "scanBonds",
  tags: ["bonds"],
  summary: "List an owner's bonds by a live scan of the chain",
  description: scanDescription,
  request: { params: walletParam, query: bondPageQuery },
  responses: scanResponses("Epochs with a balance above zero, earliest maturity first.", BondList),
});

const flag = (description: string, example = false) => z.boolean().openapi({ description, example });
const tokens = (description: string) => nullableDecimal(description, "8000000000000000000000");

const WalletBond = z
  .object({
    bondId: epoch,
    epochId: epoch,
    owner: Address,
    balance: dollars("Bonds held, in whole dollars of face value."),
    amount: dollars("The same as `balance`."),
    redeemedAmount: dollars("Bonds that the wallet redeemed and was paid for, in whole dollars.").openapi({
      example: "0",
    }),
    queuedAmount: dollars("Bonds in the redemption queue, stranded ones too, in whole dollars.").openapi({
      example: "0",
    }),
    faceValue: dollars("Face value of the bonds held in USD, 18 decimals.").openapi({
      example: "800000000000000000000",
    }),
    faceValueUsdc: dollars("The same in USDC base units (6 decimals).").openapi({ example: "800000000" }),
    createdAt: nullableTimestamp(
      "730 days before the maturity: the issue that the epoch stands for.",
      "2027-01-01T23:59:59.000Z",
    ),
    maturityDate: nullableTimestamp(
      "When they become redeemable; null when unknown.",
      "2028-12-31T23:59:59.000Z",
    ),
    isMatured: flag("Whether they are redeemable at the block's time."),
    matured: flag("The same as `isMatured`."),
    isRedeemed: flag(
      "Whether the wallet has redeemed them, and has none left: none held, none in the queue, none in an open listing.",
    ),
    tokenEquivalent: tokens(
      "Protocol tokens (18 decimals) that a redemption of the bonds held would pay at `tokenPrice`; null without a price.",
    ),
    luminaEquivalent: tokens("The same as `tokenEquivalent`."),
  })
  .openapi("WalletBond");

export const walletBondsRoute = createRoute({
  method: "get",
  path: "/api/v1/bonds/{wallet}",
  operationId: "listWalletBonds",
  tags: ["bonds"],
  summary: "List a wallet's bonds with their worth",
  description:
    "Any wallet may be read. Unlike the list by owner it begins with the latest epoch, and shows redeemed bonds, and what the bonds are worth in tokens at the vault's price.",
  security: [{ apiKey: [] }],
  request: {
    params: z.object({ wallet: addressInput }),
    query: requestObject({
      status: z.enum(bondStatuses).default("all").openapi({
        description:
          "`active`: held and not matured; `matured`: held and redeemable; `redeemed`: some were redeemed and paid; `all`: each of these, and those in the redemption queue.",
        example: "all",
      }),
      limit: limitInput(500, 100),
      offset: offsetInput,
    }),
  },
  responses: {
    200: {
      description: "One page, the latest epoch first.",
      headers: indexedBlockHeader,
      content: {
        "application/json": {
          schema: z
            .object({
              wallet: Address,
              totalBonds: z.int().openapi({ description: "Epochs with the status.", example: 1 }),
              tokenPrice: nullableDecimal(
                "The vault's price of the protocol token in USD, 18 decimals; null while its price oracle has none, while that is not above the lowest price for redemptions, and while the chain does not answer.",
                "100000000000000000",
              ),
              withdrawableUsdc,
              bonds: z.array(WalletBond),
              pagination: z.object({
                limit: z.int().openapi({ example: 100 }),
                offset: z.int().openapi({ example: 0 }),
                hasMore: flag("Whether another page follows."),
              }),
            })
            .openapi("WalletBondList"),
        },
      },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
      "internal_error",
      "database_unavailable",
      "indexer_syncing",
      "indexer_unavailable",
    ),
  },
});
