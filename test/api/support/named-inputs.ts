/** Names in requests: products by name or id, and the queries of live clients. */
import { expect, test } from "vitest";
import { productIdOf } from "../../../lib/products.ts";
import { failure, issueKey, type TestApi } from "./api.ts";

const NAME = "FLASHBTC1H-001";
const wallet = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

/** Reads of the live service's SDK, MCP server and documents. The live service ignores `seller` and `minDiscountBps`; here they filter. */
const liveReads = [
  `/api/v1/marketplace/listings?seller=${wallet}&limit=100`,
  "/api/v1/marketplace/listings?limit=50&offset=0&sortBy=price-asc&maxPriceUsdc=1000000&minDiscountBps=500",
  "/api/v1/marketplace/history?limit=50&offset=0",
  `/api/v1/policies?owner=${wallet}`,
  `/api/v1/bonds/${wallet}?status=all&limit=100&offset=0`,
  `/products/${NAME}/quote?coverageAmount=100000000`,
];

/** Requests that name a product in their path or query, or in their body. */
const reads = (product: string) => [
  `/products/${product}`,
  `/api/v1/products/${product}/quote?coverageAmount=100000000`,
  `/policies/${product}/1`,
  `/api/v1/policies/all?product=${product}`,
  `/api/v1/policies/nearest?product=${product}`,
  `/api/v1/stats/claims?product=${product}`,
  `/api/v1/stats/series?metric=premiums&product=${product}`,
];
const bodies = (productId: string): [string, object][] => [
  ["/api/v1/triggers/prepare", { from: wallet, productId, policyId: "1" }],
  ["/api/v1/policies/prepare", { from: wallet, productId, coverageAmount: "100000000" }],
];

export function namedInputs(api: () => TestApi): void {
  test("a product is named by its name or its id in paths, queries and bodies", async () => {
    const answersTo = async (product: string) => {
      const read = await Promise.all(reads(product).map((path) => api().request(path)));
      const posted = await Promise.all(bodies(product).map(([path, body]) => api().request(path, { body })));
      expect([...read, ...posted].map(({ status }) => status)).toEqual(Array(9).fill(200));
      return read.map(({ json }) => json);
    };
    expect(await answersTo(NAME)).toEqual(await answersTo(productIdOf(NAME)));
    const unknown = await api().request("/api/v1/policies/all?product=FLASHBTC2H-001");
    expect(failure(unknown)).toEqual([400, "validation_error"]);
  });

  test("what live clients ask is answered", async () => {
    const { headers } = await issueKey(api().request, wallet);
    for (const path of liveReads) {
      const { status } = await api().request(path, { headers });
      expect([path, status]).toEqual([path, 200]);
    }
  });
}
