import { ApiError } from "../../lib/errors.ts";
import { checkCapacity, checkMinimum, checkProduct } from "../buying/rules.ts";
import type { Api } from "../http/env.ts";
import type { Readers } from "../readers.ts";
import { productBody, symbolOf } from "./body.ts";
import { productRoute, productsRoute, quoteRoute } from "./routes.ts";

/** What can be bought, and at what price; all of it as the contracts tell it. */
export function addProductRoutes(app: Api, { chain, productNames }: Readers): void {
  app.openapi(productsRoute, async (c) => {
    const products = await chain.products();
    const names = await productNames(products.map((p) => p.productId));
    return c.json(
      { count: products.length, products: products.map((p) => productBody(p, names.get(p.productId))) },
      200,
    );
  });

  app.openapi(productRoute, async (c) => {
    const { productId } = c.req.valid("param");
    const [terms, names] = await Promise.all([chain.product(productId), productNames([productId])]);
    if (!terms) throw new ApiError("invalid_product", `There is no product ${productId}.`);
    return c.json(productBody(terms, names.get(productId)), 200);
  });

  app.openapi(quoteRoute, async (c) => {
    const { productId } = c.req.valid("param");
    const { coverageAmount } = c.req.valid("query");
    const [known, capacity, head, names] = await Promise.all([
      chain.product(productId),
      chain.capacity(),
      chain.head(),
      productNames([productId]),
    ]);
    const terms = checkProduct(productId, known);
    checkMinimum(coverageAmount);
    // Before the router is asked: its arithmetic would overflow on coverages that no vault can hold.
    checkCapacity(coverageAmount, terms, capacity);
    const { premium, payout } = await chain.quote(productId, coverageAmount);
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
          waitingSeconds: terms.waitingSeconds,
          payoutRatioBps: terms.payoutRatioBps,
        },
        asOfBlock: String(head.number),
      },
      200,
    );
  });
}
