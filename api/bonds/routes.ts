import { createRoute, z } from "@hono/zod-openapi";
import { scanDescription, scanResponses, walletParam } from "../chain/documented-responses.ts";
import { Address, addressInput, DecimalString, nullableDecimal } from "../http/field-types.ts";
import { limitInput, offsetInput } from "../http/paging.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";

const epoch = DecimalString.openapi({
  description: "The month of maturity, YYYYMM, which is the bond's id.",
  example: "202812",
});
const dollars = (description: string) => DecimalString.openapi({ description, example: "800" });

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

const bondPageQuery = z.object({ limit: limitInput(), offset: offsetInput });

/** The bonds of one address, from the index or the chain. */
const BondList = z
  .object({
    owner: Address,
    count: z.int().openapi({ description: "Epochs in this response.", example: 1 }),
    total: z.int().openapi({ description: "Epochs in which the owner holds bonds.", example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    offset: z.int().openapi({ example: 0 }),
    totalAmount: dollars("Bonds held in all epochs."),
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
