/**
 * The marketplace's resources, compared with its feeds, which a model of the protocol compares with the chain; and wallets' bonds with
 * their worth, compared with the contracts.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { isoTime } from "../../api/http/field-types.ts";
import { buyListing, chainTime, listBond, refreshFeeds } from "../../scripts/local/protocol/actions/index.ts";
import { timeTravel } from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { failure, invalidFields } from "./support/api.ts";
import { bob, carol, DAY, DOLLAR, type MarketApi, NOBODY, startMarketApi } from "./support/market-history.ts";
import { walletBonds } from "./support/wallet-bonds.ts";

let api: MarketApi;
beforeAll(async () => {
  api = await startMarketApi();
});

const listing = z.looseObject({
  listingId: z.string(),
  sellerAddress: z.string(),
  amount: z.string(),
  totalPriceUsdc: z.string(),
  status: z.string(),
});
const shownListing = listing.extend({ discountBps: z.number() });
const search = z.object({ count: z.number(), total: z.number(), listings: z.array(shownListing) });
const found = async (query: string) =>
  search.parse((await api.request(`/api/v1/marketplace/listings?${query}`)).json);
type Listing = z.output<typeof listing>;
const priceOf = ({ totalPriceUsdc }: Listing) => BigInt(totalPriceUsdc);
const faceOf = ({ amount }: Listing) => BigInt(amount) * DOLLAR;
const idsOf = (listings: readonly Listing[]) => listings.map(({ listingId }) => Number(listingId));
const order = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

describe("GET /api/v1/marketplace/listings", () => {
  const feed = z.object({
    listings: z.array(listing.extend({ pricePerUnit: z.string(), createdAt: z.string() })),
  });
  /** The active listings, the newest first. */
  const active = async () =>
    feed.parse((await api.request("/api/v1/marketplace/active-listings?limit=100")).json).listings;

  test("lists the active listings by price or time, with both names of each field", async () => {
    await api.waitForIndex();
    const newest = await active();
    expect(newest.length).toBeGreaterThan(3);
    const byPrice = newest.toSorted(
      (a, b) => order(priceOf(a), priceOf(b)) || Number(a.listingId) - Number(b.listingId),
    );
    expect(idsOf((await found("")).listings)).toEqual(idsOf(byPrice));
    expect(idsOf((await found("sortBy=price-desc")).listings)).toEqual(idsOf(byPrice.toReversed()));
    for (const sortBy of ["createdAt-desc", "listedAt-desc"]) {
      const { listings, count, total } = await found(`sortBy=${sortBy}`);
      expect([count, total]).toEqual([newest.length, newest.length]);
      expect(listings).toEqual(
        newest.map(({ createdAt, ...known }) =>
          expect.objectContaining({
            ...known,
            seller: known.sellerAddress,
            priceUsdc: known.totalPriceUsdc,
            maturityDate: expect.any(String),
            listedAt: createdAt,
            createdAt: isoTime(BigInt(createdAt)),
            discountBps: 0,
            ...{ buyer: null, closedAt: null, closedTxHash: null },
          }),
        ),
      );
    }
  });

  test("minDiscountBps finds the listings that show at least this discount, to the basis point", async () => {
    const epochId = await api.openEpoch(carol.address);
    for (const [amount, price] of [
      [4n, 3n * DOLLAR],
      [7n, 5n * DOLLAR],
      [10n, DOLLAR],
    ] as const)
      await listBond(api.protocol, carol, epochId, amount, price);
    await api.waitForIndex();
    const { listings: all } = await found("sortBy=listedAt-desc&limit=200");
    expect(all.slice(0, 3)).toMatchObject([
      { discountBps: 9000, pricePerUnit: "100000", matured: false },
      { discountBps: 2857, pricePerUnit: "714285" },
      { discountBps: 2500, pricePerUnit: "750000" },
    ]);
    for (const least of [0, 1, 2500, 2501, 2857, 2858, 9000, 9001, 10_000]) {
      const expected = all.filter(({ discountBps }) => discountBps >= least);
      const { listings, total } = await found(`minDiscountBps=${least}&sortBy=listedAt-desc&limit=200`);
      expect([least, total, ...idsOf(listings)]).toEqual([least, expected.length, ...idsOf(expected)]);
    }
  });

  test("filters return exactly the matching listings and their number, alone and combined", async () => {
    await api.waitForIndex();
    const all = await active();
    const prices = all.map(priceOf).toSorted(order);
    const middle = prices[Math.floor(prices.length / 2)] ?? 0n;
    const is = {
      maxPriceUsdc: (one: Listing) => priceOf(one) <= middle,
      minDiscountBps: (one: Listing) => priceOf(one) * 4n <= faceOf(one) * 3n,
      seller: (one: Listing) => one.sellerAddress === carol.address,
    };
    const values = { maxPriceUsdc: middle, minDiscountBps: 2500, seller: carol.address.toLowerCase() };
    for (const names of [
      ["maxPriceUsdc"],
      ["minDiscountBps"],
      ["seller"],
      ["maxPriceUsdc", "seller"],
      ["maxPriceUsdc", "minDiscountBps", "seller"],
    ] as const) {
      const query = names.map((name) => `${name}=${values[name]}`).join("&");
      const expected = all.filter((one) => names.every((name) => is[name](one)));
      expect([0, all.length], query).not.toContain(expected.length);
      for (const sortBy of ["price-asc", "price-desc", "listedAt-desc"]) {
        const { listings, total } = await found(`${query}&sortBy=${sortBy}`);
        expect(idsOf(listings).toSorted((a, b) => a - b)).toEqual(idsOf(expected).toSorted((a, b) => a - b));
        expect(total).toBe(expected.length);
        const paged = await found(`${query}&sortBy=${sortBy}&limit=1&offset=${expected.length - 1}`);
        expect(paged).toMatchObject({ count: 1, total, listings: listings.slice(-1) });
      }
    }
    expect(await found(`seller=${NOBODY}`)).toEqual({ count: 0, total: 0, listings: [] });
  });

  test.each([
    ["sortBy", "price"],
    ["maxPriceUsdc", "-1"],
    ["maxPriceUsdc", "1.5"],
    ["minDiscountBps", "10001"],
    ["minDiscountBps", "x"],
    ["seller", "0x12"],
    ["limit", "201"],
    ["offset", "10001"],
  ])("%s=%s gets 400 with the parameter's name", async (name, value) => {
    const answer = await api.request(`/api/v1/marketplace/listings?${name}=${value}`);
    expect([failure(answer), invalidFields(answer)]).toEqual([[400, "validation_error"], [name]]);
  });
});

describe("GET /api/v1/marketplace/listings/{listingId}", () => {
  const one = (id: unknown) => api.request(`/api/v1/marketplace/listings/${id}`);

  test("finds listings in every status by their id; 0 is the first, an unknown id gets 404", async () => {
    await api.waitForIndex();
    const { listings } = await found("sortBy=listedAt-desc");
    const statuses = new Map<string, number>();
    for (let id = 0; id <= Math.max(...idsOf(listings)); id += 1) {
      const shown = listing.parse((await one(id)).json);
      const isOpen = listings.find(({ listingId }) => listingId === String(id));
      if (isOpen) expect(shown).toEqual(isOpen);
      statuses.set(shown.status, (statuses.get(shown.status) ?? 0) + 1);
      const isSold = shown.status === "executed";
      expect(shown).toMatchObject({
        buyer: isSold ? expect.stringMatching(/^0x/) : null,
        closedAt: isOpen ? null : expect.any(String),
        closedTxHash: isOpen ? null : expect.stringMatching(/^0x/),
      });
    }
    expect([...statuses.keys()].sort()).toEqual(["active", "cancelled", "executed"]);
    expect(statuses.get("active")).toBe(listings.length);
    for (const id of ["999999", String(2n ** 256n - 1n)]) {
      expect(failure(await one(id)), id).toEqual([404, "listing_not_found"]);
    }
    for (const id of ["x", "-1", "1.0", String(2n ** 256n)]) {
      expect(failure(await one(id)), id).toEqual([400, "validation_error"]);
    }
  });

  test("a sale that a reorganisation takes back leaves the listing active", async () => {
    const { protocol, chain } = api;
    const id = await listBond(protocol, carol, await api.openEpoch(carol.address), 5n, 6n * DOLLAR);
    await buyListing(protocol, bob, id);
    await api.waitForIndex();
    expect((await one(id)).json).toMatchObject({ status: "executed", buyer: bob.address });
    expect(await askRpc(chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
    await chain.client.mine({ blocks: 1 });
    await api.waitForIndex();
    expect((await one(id)).json).toMatchObject({ status: "active", buyer: null, closedAt: null });
    expect(idsOf((await found(`maxPriceUsdc=${6n * DOLLAR}`)).listings)).toContain(Number(id));
  });
});

test("GET /api/v1/marketplace/history and /stats agree with the sales and the active listings", async () => {
  const { protocol, chain } = api;
  const epochId = await api.openEpoch(carol.address);
  await timeTravel(protocol, 2n * DAY);
  await refreshFeeds(protocol, chain.owner);
  await buyListing(protocol, bob, await listBond(protocol, carol, epochId, 7n, 8n * DOLLAR));
  await api.waitForIndex();
  const sale = z.looseObject({
    totalPriceUsdc: z.string(),
    sellerFeeUsdc: z.string(),
    buyerFeeUsdc: z.string(),
    soldAt: z.string(),
  });
  const { sales } = z
    .object({ sales: z.array(sale) })
    .parse((await api.request("/api/v1/marketplace/recent-sales?limit=100")).json);
  const history = await api.request("/api/v1/marketplace/history?limit=100");
  const trades = sales.map(
    ({ totalPriceUsdc, buyerFeeUsdc, soldAt, sellerFeeUsdc: _, listedAt: _listed, ...same }) => ({
      ...same,
      buyerAddress: same.buyer,
      sellerAddress: same.seller,
      priceUsdc: totalPriceUsdc,
      totalPaidUsdc: String(BigInt(totalPriceUsdc) + BigInt(buyerFeeUsdc)),
      timestamp: soldAt,
      executedAt: isoTime(BigInt(soldAt)),
    }),
  );
  expect(history.json).toEqual({ count: sales.length, limit: 100, offset: 0, nextCursor: null, trades });
  const pages = z.object({ nextCursor: z.string(), trades: z.array(z.unknown()) });
  const first = pages.parse((await api.request("/api/v1/marketplace/history?limit=1")).json);
  const next = await api.request(`/api/v1/marketplace/history?limit=1&cursor=${first.nextCursor}`);
  expect([...first.trades, ...pages.parse(next.json).trades]).toEqual(trades.slice(0, 2));

  const { listings } = await found("limit=200");
  const now = await chainTime(protocol);
  const lowest = (values: readonly bigint[]) => String(values.toSorted(order)[0]);
  const volume = (some: typeof sales) =>
    String(some.reduce((sum, { totalPriceUsdc }) => sum + BigInt(totalPriceUsdc), 0n));
  const fees = sales.reduce((sum, one) => sum + BigInt(one.sellerFeeUsdc) + BigInt(one.buyerFeeUsdc), 0n);
  const today = sales.filter(({ soldAt }) => BigInt(soldAt) > now - DAY);
  expect(today).toHaveLength(1);
  expect((await api.request("/api/v1/marketplace/stats")).json).toEqual({
    floor: lowest(listings.map(priceOf)),
    floorPerUnit: lowest(listings.map((one) => priceOf(one) / BigInt(one.amount))),
    volume24h: volume(today),
    sales24h: 1,
    totalListings: listings.length,
    totalVolume: volume(sales),
    totalSales: sales.length,
    totalFees: String(fees),
  });
});

describe("the bonds of a wallet", () => walletBonds(() => api));
