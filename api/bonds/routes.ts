import { createRoute, z } from "@hono/zod-openapi";
import { Address, addressInput, DecimalString, nullableDecimal } from "../http/field-types.ts";
import { limitInput, offsetInput } from "../http/paging.ts";
import { indexedResponses } from "../index/documented-responses.ts";

const epoch = DecimalString.openapi({
  description: "The month of maturity, YYYYMM; it is the bond's id.",
  example: "202812",
});
const dollars = (description: string) => DecimalString.openapi({ description, example: "800" });

export const BondHolding = z
  .object({
    bondId: epoch,
    epochId: epoch,
    owner: Address,
    amount: dollars("Bonds held: whole dollars of face value."),
    faceValueUsd: dollars("What they are worth at maturity, in whole dollars: the amount."),
    maturityDate: nullableDecimal(
      "From when on they can be redeemed, Unix seconds; null when no event told it.",
      "1861920000",
    ),
    matured: z.boolean().openapi({ description: "Whether they can be redeemed at the block's time." }),
  })
  .openapi("BondHolding");

export const bondPageQuery = z.object({ limit: limitInput(), offset: offsetInput });

/** Holdings of one address, out of the index and off the chain alike. */
export const BondList = z
  .object({
    owner: Address,
    count: z.int().openapi({ description: "Epochs in this answer.", example: 1 }),
    total: z.int().openapi({ description: "Epochs of which the owner holds bonds.", example: 1 }),
    limit: z.int().openapi({ example: 50 }),
    offset: z.int().openapi({ example: 0 }),
    totalAmount: dollars("Bonds held in all epochs, on whichever page."),
    bonds: z.array(BondHolding),
  })
  .openapi("BondList");

export const bondsByOwnerRoute = createRoute({
  method: "get",
  path: "/api/v1/bonds/by-owner/{address}",
  operationId: "listBondsByOwner",
  tags: ["stats", "bonds"],
  summary: "What an address holds of each bond",
  description:
    "Net holdings: without what was sold, is in escrow for a listing, was redeemed or waits in the redemption queue, or was given up.",
  request: { params: z.object({ address: addressInput }), query: bondPageQuery },
  responses: indexedResponses(
    "Epochs with a balance above zero, the next to mature first.",
    BondList,
    "validation_error",
  ),
});
