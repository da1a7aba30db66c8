/** The queries of the lists, the statistics and the marketplace. */
import { expect, test } from "vitest";
import { prepareHoldings } from "../../../api/bonds/queries.ts";
import { readBurns } from "../../../api/burns/queries.ts";
import { readMarketStats } from "../../../api/indexed/market-stats.ts";
import type { IndexQuery } from "../../../api/indexed/reader.ts";
import { discountBps } from "../../../api/marketplace/listing-body.ts";
import { findListing, type ListingSearch, searchListings } from "../../../api/marketplace/listing-queries.ts";
import { readActiveListings, readSales } from "../../../api/marketplace/queries.ts";
import { findPolicy, prepareBuyerPage } from "../../../api/policies/queries.ts";
import { searchPolicies } from "../../../api/policies/search-queries.ts";
import { readActivity } from "../../../api/stats/activity.ts";
import { readMaturities } from "../../../api/stats/bonds/queries.ts";
import { readBurnerDays } from "../../../api/stats/burners/queries.ts";
import * as ranking from "../../../api/stats/holders/queries.ts";
import { readMarketDays, readMarketEpochs } from "../../../api/stats/market/queries.ts";
import { readPauseStates, readPauses, readSequencer } from "../../../api/stats/pauses/queries.ts";
import { readPricePoints } from "../../../api/stats/price-points.ts";
import { readFeeds } from "../../../api/stats/prices/queries.ts";
import {
  countOpenPolicies,
  readBurnDays,
  readBurnSources,
  readProtocolSums,
} from "../../../api/stats/queries.ts";
import { readEarlier, readQueue, readWaiting, readWeek } from "../../../api/stats/queue/queries.ts";
import { readEventPrice } from "../../../api/stats/token-price.ts";
import { readVault } from "../../../api/stats/vault/queries.ts";
import { readTriggers } from "../../../api/triggers/queries.ts";
import { waitingOf, walletOf } from "../../../bench/fill-index.ts";
import { readDue } from "../../../lib/indexed/due.ts";
import { productIdOf } from "../../../lib/products.ts";
import { expectIndexed, LARGE, type LargeIndex, PAGE_ROWS, yearsOfRows } from "./query-plans.ts";

/** The longest page of listings. */
const LISTING_ROWS = 200;
/** A search with a filter may read every active listing, to find the matching ones and to count them. */
const ACTIVE_LISTINGS = Math.ceil(yearsOfRows.others / 3) + 1;
/** A day's share of the sales of two years, and one more for the edge. */
const SALES_OF_A_DAY = Math.ceil(yearsOfRows.others / 730) + 1;
/** Minutes of the longest cover: the count of open policies may read one row per minute. */
const OPEN_POLICY_ROWS = 72 * 60;
/** Two years, and the days at both ends. */
const DAYS = 732;
const wallet = walletOf(77, yearsOfRows.wallets);
const first = { limit: 100, offset: 0 };
/** A cursor in the middle of every feed: a scan from the start would skip half of the rows. */
const deep = { ...first, cursor: { blockNumber: 50_000n, logIndex: 100 } };
const policyKey = { productId: productIdOf("FLASHBTC1H-001"), policyId: 1_000_500n };
const type = "token_burned";
const marketplace = "0x00000000000000000000000000000000000000aa";
const epoch = 203_001n;
const place = (amount: bigint) => ({ amount, address: wallet });
const longAgo = 1_000_000_000n;
const YEAR = 31_536_000n;

export function listPlans(large: () => LargeIndex): void {
  const run: LargeIndex["run"] = (query) => large().run(query);
  const now = () => large().now;
  /** A month in the middle of every table: an index on time alone would read the later half. */
  const aMonth = () => ({ ...first, from: now() - YEAR, to: now() - YEAR + 2_592_000n });

  test.each<[string, (db: IndexQuery) => Promise<unknown>]>([
    ["one policy", (db) => findPolicy(db, policyKey)],
    ["a buyer's policies", (db) => searchPolicies(db, { buyer: wallet, ...first }, now())],
    ["a buyer's policies after a cursor", (db) => searchPolicies(db, { buyer: wallet, ...deep }, now())],
    ["a buyer's policies, prepared", (db) => prepareBuyerPage(db)({ buyer: wallet, ...first })],
    ["a buyer's policies after a cursor, prepared", (db) => prepareBuyerPage(db)({ buyer: wallet, ...deep })],
    ["activity", (db) => readActivity(db, first)],
    ["activity after a cursor", (db) => readActivity(db, deep)],
    ["activity of a type", (db) => readActivity(db, { ...first, type })],
    ["activity of a type after a cursor", (db) => readActivity(db, { ...deep, type })],
    ["activity of an actor", (db) => readActivity(db, { ...first, actor: wallet })],
    ["activity of an actor after a cursor", (db) => readActivity(db, { ...deep, actor: wallet })],
    ["activity of an actor and a type", (db) => readActivity(db, { ...first, actor: wallet, type })],
    ["activity since yesterday", (db) => readActivity(db, { ...first, since: now() - 86_400n })],
    ["activity since the beginning", (db) => readActivity(db, { ...first, since: longAgo })],
    ["activity since the future", (db) => readActivity(db, { ...first, since: now() + 86_400n })],
    ["activity with all filters", (db) => readActivity(db, { ...deep, actor: wallet, type, since: longAgo })],
    ["activity of a month", (db) => readActivity(db, aMonth())],
    ["activity of a month and an actor", (db) => readActivity(db, { ...aMonth(), actor: wallet })],
    ["activity before the beginning", (db) => readActivity(db, { ...first, to: longAgo })],
    ["activity of a month after a cursor", (db) => readActivity(db, { ...aMonth(), ...deep })],
    ["a buyer's policies of a month", (db) => searchPolicies(db, { buyer: wallet, ...aMonth() }, now())],
    ["sales of a month", (db) => readSales(db, aMonth())],
    ["triggers of a month", (db) => readTriggers(db, aMonth())],
    ["burns of a month", (db) => readBurns(db, aMonth())],
    ["burns of a source and a month", (db) => readBurns(db, { ...aMonth(), source: "direct" })],
    ["prices of a month", (db) => readPricePoints(db, null, aMonth())],
    ["burns", (db) => readBurns(db, first)],
    ["burns after a cursor", (db) => readBurns(db, deep)],
    ["burns of a source", (db) => readBurns(db, { ...first, source: "direct" })],
    ["burns of a source after a cursor", (db) => readBurns(db, { ...deep, source: "direct" })],
    ["prices of a day", (db) => readPricePoints(db, 86_400n, first)],
    ["all prices", (db) => readPricePoints(db, null, first)],
    ["all prices after a cursor", (db) => readPricePoints(db, null, deep)],
    ["an owner's bonds", (db) => prepareHoldings(db)(wallet)],
    ["active listings", (db) => readActiveListings(db, first)],
    ["active listings after a cursor", (db) => readActiveListings(db, { ...first, cursor: 1_010_000n })],
    ["sales", (db) => readSales(db, first)],
    ["sales after a cursor", (db) => readSales(db, deep)],
    ["triggers", (db) => readTriggers(db, first)],
    ["triggers after a cursor", (db) => readTriggers(db, deep)],
    ["the protocol's sums", (db) => readProtocolSums(db)],
    ["burns by source", (db) => readBurnSources(db)],
    ["the vault's totals", readVault],
    ["the token's price", readEventPrice],
    ["the assets' prices", readFeeds],
    ["the maturities", readMaturities],
    ["the redemption queue", (db) => readQueue(db, first)],
    ["the redemption queue after a cursor", (db) => readQueue(db, { ...first, cursor: 1_099_500n })],
    ["what a week's redemptions took", (db) => readWeek(db, now())],
    ["bond holders", (db) => ranking.readHolders(db, { ...first, marketplace })],
    [
      "bond holders after a cursor",
      (db) => ranking.readHolders(db, { ...first, marketplace, cursor: place(4000n) }),
    ],
    ["an epoch's holders", (db) => ranking.readHolders(db, { ...first, marketplace, epoch })],
    [
      "an epoch's holders after a cursor",
      (db) => ranking.readHolders(db, { ...first, epoch, cursor: place(850n) }),
    ],
    ["an epoch's bonds", (db) => ranking.readOutstanding(db, { epoch })],
    ["buyers", (db) => ranking.readBuyers(db, first)],
    ["buyers after a cursor", (db) => ranking.readBuyers(db, { ...first, cursor: place(50_000_000_000n) })],
    ["the market by epoch", readMarketEpochs],
    ["pauses", (db) => readPauses(db, { ...first, from: longAgo })],
    ["the state of the pauses", readPauseStates],
    ["the sequencer's status", readSequencer],
  ])("%s: the query uses an index and reads at most one page", async (_name, query) => {
    expectIndexed(await run(query), PAGE_ROWS);
  });

  test("by day, the burns, the market and the burners have a row for each day of two years", async () => {
    expectIndexed(await run((db) => readBurnDays(db)), DAYS);
    expectIndexed(await run(readMarketDays), DAYS);
    expectIndexed(await run(readBurnerDays), 2 * DAYS);
  });

  test("holders and buyers are counted by one row for each wallet, an epoch's along an index", async () => {
    const { wallets, others } = yearsOfRows;
    for (const count of [
      (db: IndexQuery) => ranking.countHolders(db, { marketplace }),
      ranking.countBuyers,
    ]) {
      const rows = (await run(count)).map((node) => node["Actual Rows"] * node["Actual Loops"]);
      expect(Math.max(...rows)).toBeLessThanOrEqual(wallets + 10);
    }
    expectIndexed(await run((db) => ranking.countHolders(db, { marketplace, epoch })), wallets + 1);
    expectIndexed(await run((db) => ranking.readEpochHolders(db, { marketplace })), others + 1);
  });

  test("waiting redemptions are counted, and those before a page read, without the paid ones", async () => {
    const waiting = waitingOf(yearsOfRows);
    expectIndexed(await run((db) => readWaiting(db, now())), waiting + 1);
    expectIndexed(await run((db) => readEarlier(db, { ...first, cursor: 1_099_900n })), waiting + 1);
    expectIndexed(await run((db) => readEarlier(db, { ...first, from: now() })), waiting + 1);
    expectIndexed(await run((db) => readQueue(db, { ...first, from: longAgo, to: now() })), waiting + 1);
  });

  test.each([2n ** 63n, 2n ** 256n - 1n])(
    "the policy id %s, above every int8, finds no policy",
    async (id) => {
      const nodes = await run(async (db) => {
        expect(await findPolicy(db, { ...policyKey, policyId: id })).toBeUndefined();
      });
      expectIndexed(nodes, 0);
    },
  );

  const orders = ["price-asc", "price-desc", "listedAt-desc"] as const;
  const searchOf = (more: Partial<ListingSearch>): ListingSearch => ({
    ...{ sortBy: "price-asc", limit: LISTING_ROWS, offset: 0 },
    ...more,
  });

  test.each(orders)("all active listings by %s: the query reads one page along an index", async (sortBy) => {
    expectIndexed(await run(async (db) => searchListings(db, searchOf({ sortBy }))), LISTING_ROWS);
  });

  test("active listings of a month: an index serves the query, which may read every active listing", async () => {
    expectIndexed(await run((db) => readActiveListings(db, aMonth())), ACTIVE_LISTINGS);
    for (const sortBy of orders) {
      const { from, to } = aMonth();
      expectIndexed(await run((db) => searchListings(db, searchOf({ sortBy, from, to }))), ACTIVE_LISTINGS);
    }
  });

  test("one listing, also by an id above every int8: the query reads one row by the primary key", async () => {
    expectIndexed(await run(async (db) => findListing(db, 1_000_500n)), 1);
    expectIndexed(await run(async (db) => findListing(db, 2n ** 256n - 1n)), 1);
  });

  test.each(orders)(
    "listings with filters by %s: an index serves the query, and the rows are the matching ones",
    async (sortBy) => {
      const cheap = { maxPriceUsdc: 600_000_000n };
      const discounted = { minDiscountBps: 2_500 };
      for (const filter of [cheap, discounted, { ...cheap, ...discounted }]) {
        const nodes = await run(async (db) => {
          const found = await searchListings(db, searchOf({ ...filter, sortBy }));
          expect(found.length).toBe(LISTING_ROWS);
          // All are of 800 dollars: a discount of 25 % is a price of 600.
          for (const { page } of found) {
            expect(page?.price).toBeLessThanOrEqual(600_000_000n);
            expect(discountBps(page?.price ?? 0n, page?.amount ?? 1n)).toBeGreaterThanOrEqual(2_500);
          }
          const { sql } = large();
          const [all] = await sql<{ total: number }[]>`
          select count(*)::int as total from ${sql(LARGE)}.listing where status = 'active' and price <= 600000000`;
          expect(found[0]?.matching?.total).toBe(all?.total);
        });
        expectIndexed(nodes, ACTIVE_LISTINGS);
      }
      const ofSeller = searchOf({
        sortBy,
        seller: walletOf(77, yearsOfRows.wallets),
        ...cheap,
        ...discounted,
      });
      expectIndexed(await run(async (db) => searchListings(db, ofSeller)), PAGE_ROWS);
    },
  );

  test("the marketplace's figures: floors are one row of an index each, and a day's sales are counted", async () => {
    expectIndexed(await run((db) => readMarketStats(db, Promise.resolve(now()))), SALES_OF_A_DAY);
  });

  test("the due policies: the query reads the open ones by their expiry, and a few rounds of each", async () => {
    let due = 0;
    const nodes = await run(async (db) => {
      due = (await readDue(db))?.policies.length ?? 0;
    });
    // So many policies of an hour in two years.
    expect(due).toBeGreaterThan(yearsOfRows.policies / 50_000);
    expectIndexed(nodes, 20 * due);
  });

  test("counting open policies reads at most one row per minute of the longest cover", async () => {
    expectIndexed(await run((db) => countOpenPolicies(db, now())), OPEN_POLICY_ROWS);
  });
}
