import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { uint256Input } from "../http/field-types.ts";
import { productInput } from "../http/product-input.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { Product, Quote } from "./schemas.ts";

const params = z.object({ productId: productInput });

export const productsRoute = createRoute({
  method: "get",
  path: "/products",
  operationId: "listProducts",
  tags: ["products"],
  summary: "List products",
  description: "All registered products, read from the contracts; `active` tells whether one can be bought.",
  responses: {
    200: {
      description: "The products, in the router's order.",
      content: {
        "application/json": {
          schema: z
            .object({ count: z.int().openapi({ example: 8 }), products: z.array(Product) })
            .openapi("ProductList"),
        },
      },
    },
    ...failures("internal_error", "health_contracts_incomplete", "chain_not_found"),
  },
});

/** The same resource under the prefix of most other paths; so are the two below. */
export const prefixedProductsRoute = createRoute({
  ...productsRoute,
  path: "/api/v1/products",
  operationId: "listProductsV1",
  description: "The same as `GET /products`.",
});

export const productRoute = createRoute({
  method: "get",
  path: "/products/{productId}",
  operationId: "getProduct",
  tags: ["products"],
  summary: "Get a product",
  request: { params },
  responses: {
    200: { description: "The product.", content: { "application/json": { schema: Product } } },
    ...failures(
      "validation_error",
      "invalid_product",
      "internal_error",
      "health_contracts_incomplete",
      "chain_not_found",
    ),
  },
});

export const prefixedProductRoute = createRoute({
  ...productRoute,
  path: "/api/v1/products/{productId}",
  operationId: "getProductV1",
  description: "The same as `GET /products/{productId}`.",
});

export const quoteRoute = createRoute({
  method: "get",
  path: "/products/{productId}/quote",
  operationId: "getQuote",
  tags: ["products"],
  summary: "Get a quote",
  description:
    "The premium of a purchase now. Fails with the codes of a purchase for a product that is not sold, too little coverage, or more than the vault has room for; pauses of the router, prices and funds are checked by a purchase only.",
  request: {
    params,
    query: requestObject({
      coverageAmount: uint256Input.openapi({
        description: "Coverage, USDC base units (6 decimals); at least 100000000.",
        example: "1000000000",
      }),
    }),
  },
  responses: {
    200: {
      description: "The premium, the payout, and the terms of the trigger.",
      content: { "application/json": { schema: Quote } },
    },
    ...failures(
      "validation_error",
      "invalid_product",
      "product_inactive",
      "shield_paused",
      "coverage_below_minimum",
      "coverage_above_maximum",
      "internal_error",
      "health_contracts_incomplete",
      "chain_not_found",
    ),
  },
});

export const prefixedQuoteRoute = createRoute({
  ...quoteRoute,
  path: "/api/v1/products/{productId}/quote",
  operationId: "getQuoteV1",
  description: "The same as `GET /products/{productId}/quote`.",
});
