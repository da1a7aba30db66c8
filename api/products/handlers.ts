import type { Context } from "hono";
import type { Hex } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { checkLimits, checkMinimum, checkProduct } from "../buying/purchase-rules.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Api } from "../http/env.ts";
import { productBody, symbolOf } from "./body.ts";
import {
  prefixedProductRoute,
  prefixedProductsRoute,
  prefixedQuoteRoute,
  productRoute,
  productsRoute,
  quoteRoute,
} from "./routes.ts";

export type ProductParts = { readonly chain: ChainReads };

async function sendProducts(c: Context, { chain }: ProductParts) {
  const products = await chain.products();
  return c.json({ count: products.length, products: products.map(productBody) }, 200);
}

async function sendProduct(c: Context, { chain }: ProductParts, productId: Hex) {
  const terms = await chain.product(productId);
  if (!terms) throw new ApiError("invalid_product", `There is no product ${productId}.`);
  return c.json(productBody(terms), 200);
}

async function sendQuote(
  c: Context,
  { chain }: ProductParts,
  { productId, coverageAmount }: { productId: Hex; coverageAmount: bigint },
) {
  const { block, terms, capacity, premium, payout } = await chain.atHead(async ({ number: block }) => {
    const [known, limits] = await Promise.all([chain.product(productId, block), chain.saleLimits(block)]);
    const terms = checkProduct(productId, known);
    checkMinimum(coverageAmount);
    // Before the quote: the router's arithmetic overflows for a coverage far above every capacity.
    checkLimits(coverageAmount, terms, limits);
    const quote = await chain.quote({ productId, coverage: coverageAmount }, block);
    return { block, terms, capacity: limits.capacity, ...quote };
  });
  return c.json(
    {
      productId,
      productName: terms.name,
      coverageAmount: String(coverageAmount),
      premium: String(premium),
      payout: String(payout),
      availableCapacity: String(capacity),
      trigger: {
        coveredAsset: symbolOf(terms.asset),
        asset: terms.asset,
        dropBps: terms.triggerDropBps,
        windowSeconds: terms.durationSeconds,
        waitingSeconds: 0,
        payoutRatioBps: terms.payoutRatioBps,
      },
      asOfBlock: String(block),
    },
    200,
  );
}

/** Products and quotes, read from the contracts. */
export function addProductRoutes(app: Api, parts: ProductParts): void {
  app.openapi(productsRoute, (c) => sendProducts(c, parts));
  app.openapi(prefixedProductsRoute, (c) => sendProducts(c, parts));
  app.openapi(productRoute, (c) => sendProduct(c, parts, c.req.valid("param").productId));
  app.openapi(prefixedProductRoute, (c) => sendProduct(c, parts, c.req.valid("param").productId));
  app.openapi(quoteRoute, (c) => sendQuote(c, parts, { ...c.req.valid("param"), ...c.req.valid("query") }));
  app.openapi(prefixedQuoteRoute, (c) =>
    sendQuote(c, parts, { ...c.req.valid("param"), ...c.req.valid("query") }),
  );
}
