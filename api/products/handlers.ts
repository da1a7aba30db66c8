import type { Context } from "hono";
import type { Hex } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { checkCapacity, checkMinimum, checkProduct } from "../buying/purchase-rules.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Api } from "../http/env.ts";
import type { ProductNames } from "../indexed/product-names.ts";
import { productBody, symbolOf } from "./body.ts";
import {
  prefixedProductRoute,
  prefixedProductsRoute,
  prefixedQuoteRoute,
  productRoute,
  productsRoute,
  quoteRoute,
} from "./routes.ts";

export type ProductParts = { readonly chain: ChainReads; readonly productNames: ProductNames };

async function sendProducts(c: Context, { chain, productNames }: ProductParts) {
  const products = await chain.products();
  const names = await productNames(products.map((p) => p.productId));
  return c.json(
    { count: products.length, products: products.map((p) => productBody(p, names.get(p.productId))) },
    200,
  );
}

async function sendProduct(c: Context, { chain, productNames }: ProductParts, productId: Hex) {
  const [terms, names] = await Promise.all([chain.product(productId), productNames([productId])]);
  if (!terms) throw new ApiError("invalid_product", `There is no product ${productId}.`);
  return c.json(productBody(terms, names.get(productId)), 200);
}

async function sendQuote(
  c: Context,
  { chain, productNames }: ProductParts,
  { productId, coverageAmount }: { productId: Hex; coverageAmount: bigint },
) {
  const read = chain.atHead(async ({ number: block }) => {
    const [known, capacity] = await Promise.all([chain.product(productId, block), chain.capacity(block)]);
    const terms = checkProduct(productId, known);
    checkMinimum(coverageAmount);
    // Before the quote: the router's arithmetic overflows for a coverage far above every capacity.
    checkCapacity(coverageAmount, terms, capacity);
    return { block, terms, capacity, ...(await chain.quote({ productId, coverage: coverageAmount }, block)) };
  });
  const [{ block, terms, capacity, premium, payout }, names] = await Promise.all([
    read,
    productNames([productId]),
  ]);
  return c.json(
    {
      productId,
      productName: names.get(productId) ?? null,
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
