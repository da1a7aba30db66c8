/** The queries of the analysts' reads: cover, products, claims, series and all policies. */
import type { Hex } from "viem";
import { test } from "vitest";
import { readNearest } from "../../../api/policies/nearest-queries.ts";
import { type PolicySearch, searchPolicies } from "../../../api/policies/search-queries.ts";
import { type ClaimQuery, readClaims } from "../../../api/stats/claims/queries.ts";
import { readOpenCover } from "../../../api/stats/cover/queries.ts";
import { readPriceSteps } from "../../../api/stats/prices/history-queries.ts";
import { readFiguresOfPeriod } from "../../../api/stats/products/queries.ts";
import { bucketsFrom } from "../../../api/stats/series/buckets.ts";
import { readSeries } from "../../../api/stats/series/queries.ts";
import { walletOf } from "../../../bench/fill-index.ts";
import { policyStatuses } from "../../../lib/indexed/policy-status.ts";
import { assetBytes32, productIdOf } from "../../../lib/products.ts";
import { expectIndexed, type LargeIndex, PAGE_ROWS, yearsOfRows } from "./query-plans.ts";

const wallet = walletOf(77, yearsOfRows.wallets);
const first = { limit: 100, offset: 0 };
/** A cursor in the middle of every feed: a scan from the start would skip half of the rows. */
const deep = { ...first, cursor: { blockNumber: 50_000n, logIndex: 100 } };
const longAgo = 1_000_000_000n;
const noMonth = { ...first, from: longAgo, to: longAgo + 2_592_000n };
const YEAR = 31_536_000n;
/** The policies are of two years. */
const POLICIES_OF_A_DAY = Math.ceil(yearsOfRows.policies / 730) + 1;

const btc = assetBytes32("BTC");
const product = productIdOf("FLASHBTC1H-001");
/** A page for each product; and an open policy was bought within the longest cover, which is three days. */
const SEARCH_ROWS = 4 * POLICIES_OF_A_DAY;

export function analysisPlans(large: () => LargeIndex): void {
  const run: LargeIndex["run"] = (query) => large().run(query);
  const now = () => large().now;

  test.each<[string, Omit<PolicySearch, "limit" | "offset">]>([
    ["nothing", {}],
    ["a cursor", { cursor: deep.cursor }],
    ["a product", { product }],
    ["a product after a cursor", { product, cursor: deep.cursor }],
    ["an asset", { asset: btc }],
    ["an unknown asset", { asset: assetBytes32("NONE") }],
    ["an asset and a product", { asset: btc, product }],
    ["a buyer", { buyer: wallet }],
    ["a buyer, an asset and a status", { buyer: wallet, asset: btc, status: "Cancelled" }],
    ...policyStatuses.flatMap((status): [string, Omit<PolicySearch, "limit" | "offset">][] => [
      [`status ${status}`, { status }],
      [`status ${status} and an asset after a cursor`, { status, asset: btc, cursor: deep.cursor }],
    ]),
    ["a day of purchases long ago", { from: longAgo, to: longAgo + 86_400n }],
    ["expiry from long ago", { expiresFrom: longAgo }],
    ["expiry before long ago", { expiresTo: longAgo }],
    ["expiry before long ago and a status", { expiresTo: longAgo, status: "Expired" }],
  ])(
    "a search of all policies by %s: the query reads pages, or the days of the open ones, along an index",
    async (_name, search) => {
      expectIndexed(await run((db) => searchPolicies(db, { ...first, ...search }, now())), SEARCH_ROWS);
    },
  );

  test("a search by expiry in the middle of history reads the policies of the days before only", async () => {
    const middle = { expiresFrom: now() - YEAR, expiresTo: now() - YEAR + 3_600n };
    expectIndexed(
      await run((db) => searchPolicies(db, { ...first, ...middle }, now())),
      3 * POLICIES_OF_A_DAY,
    );
  });

  test("the active cover reads the open policies, by their expiry", async () => {
    expectIndexed(await run((db) => readOpenCover(db, now())), 200);
  });

  test.each([
    ["a day long ago", () => ({ from: now() - YEAR, to: now() - YEAR + 86_400n })],
    ["the last day", () => ({ from: now() - 86_400n })],
  ])("the figures of the products over the purchases of %s read these policies", async (_name, period) => {
    expectIndexed(await run((db) => readFiguresOfPeriod(db, period(), now())), 3 * POLICIES_OF_A_DAY);
  });

  test.each<[string, { readonly product?: Hex; readonly asset?: Hex }]>([
    ["nothing", {}],
    ["a product", { product }],
    ["an asset", { asset: btc }],
  ])(
    "the policies nearest to their trigger by %s: the query reads the open policies, by their expiry",
    async (_name, filter) => {
      // Each policy of a page has its newest rounds, three at most.
      expectIndexed(await run((db) => readNearest(db, { ...first, ...filter }, now())), 5 * PAGE_ROWS);
    },
  );

  test("an asset's prices of a month read the rounds of that month, by their time", async () => {
    const month = 30n * 86_400n;
    const steps = { from: now() - month, to: now() + 1n, step: 7200n };
    const roundsOfMonth = Math.ceil(yearsOfRows.others / 730) * 31;
    expectIndexed(await run((db) => readPriceSteps(db, btc, steps)), roundsOfMonth);
  });

  test.each<[string, ClaimQuery]>([
    ["no filter", first],
    ["a cursor", deep],
    ["a month without claims", noMonth],
    ["a product", { ...first, product }],
    ["an unknown product", { ...first, product: productIdOf("nothing") }],
    ["a buyer", { ...first, buyer: wallet }],
    ["a buyer and a product", { ...first, buyer: wallet, product }],
  ])(
    "claims by %s: the query reads a page along an index, and three rounds of each",
    async (_name, query) => {
      expectIndexed(await run((db) => readClaims(db, query)), 5 * PAGE_ROWS);
    },
  );

  test.each(["day", "week", "month"] as const)(
    "a series by %s reads a row for each day and product",
    async (interval) => {
      const buckets = bucketsFrom(interval, now() - YEAR + 86_400n, now(), 366) ?? [];
      for (const metric of ["premiums", "payouts", "burns", "bond_sales"] as const) {
        expectIndexed(await run((db) => readSeries(db, { metric }, buckets)), 10 * 366);
      }
    },
  );

  test("a series of buyers reads the policies of its buckets, and the first one of each buyer", async () => {
    const buckets = bucketsFrom("day", now() - 9n * 86_400n, now(), 10) ?? [];
    for (const metric of ["new_buyers", "returning_buyers"] as const) {
      expectIndexed(await run((db) => readSeries(db, { metric }, buckets)), 11 * POLICIES_OF_A_DAY);
    }
  });

  test("a series of new buyers over years reads one policy of each buyer", async () => {
    const buckets = bucketsFrom("month", now() - 2n * YEAR, now(), 30) ?? [];
    const nodes = await run((db) => readSeries(db, { metric: "new_buyers" }, buckets));
    // The accounts are read as a whole.
    const onPolicies = nodes.filter((node) => node["Relation Name"] !== "kept_account");
    // The wallets of the inserted rows, and those of the chain.
    expectIndexed(onPolicies, yearsOfRows.wallets + 100);
  });
}
