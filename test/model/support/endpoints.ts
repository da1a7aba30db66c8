/** Compares every indexed read of the API, and both live ones, with the chain at the same block. */
import { expect } from "vitest";
import { activityTypes, burnSources } from "../../../ponder.schema.ts";
import type { Row } from "../../src/support/rows.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import { users } from "./action.ts";
import { expectAnalysis } from "./analysis.ts";
import { big, type ChainState } from "./chain-state.ts";
import * as lists from "./expected-lists.ts";
import * as market from "./expected-market.ts";
import * as stats from "./expected-stats.ts";
import { byPosition, expectFeed, type Feed, type Page } from "./pages.ts";
import { expectStats } from "./stats-endpoints.ts";

const HOUR = 3_600n;
const DAY = 24n * HOUR;

/** The users, and an address that the chain does not know. */
const addresses = [...users.map(({ address }) => address), "0x000000000000000000000000000000000000dEaD"];

const expectBlock = (header: string, block: bigint) => (answer: HttpAnswer) =>
  expect(answer.headers.get(header), header).toBe(String(block));

const pageFields = ({ count, limit, offset, last }: Page): Row => ({
  count,
  limit,
  offset,
  nextCursor: byPosition(last),
});

type Reader = { readonly request: CheckedRequest; readonly chainState: ChainState };

/** Both kinds of sums, and the health of an index at the chain's head. */
async function expectSums({ request, chainState }: Reader): Promise<void> {
  for (const [path, body] of [
    ["/api/v1/stats/burns", stats.burnStats(chainState)],
    ["/api/v1/stats/protocol", stats.protocolStats(chainState)],
  ] as const) {
    const answer = await request(path);
    expectBlock("x-indexed-block", chainState.block)(answer);
    expect(answer.json, path).toEqual(body);
  }
  expect((await request("/api/v1/indexer/health")).json).toMatchObject({
    status: "synced",
    lastSyncedBlock: String(chainState.block),
    headBlock: String(chainState.block),
    lagBlocks: "0",
    headTimestamp: String(chainState.now),
    heartbeatAt: expect.stringMatching(/^\d+$/),
  });
}

/** The public feeds without the activity. */
function feeds({ request, chainState }: Reader): Feed[] {
  const check = expectBlock("x-indexed-block", chainState.block);
  const burns = lists.burns(chainState);
  return [
    { path: "/api/v1/triggers/recent", rows: "triggers", expected: lists.triggers(chainState), limit: 3 },
    { path: "/api/v1/marketplace/recent-sales", rows: "sales", expected: lists.sales(chainState), limit: 3 },
    { path: "/api/v1/burns/recent", rows: "burns", expected: burns, limit: 11 },
    ...burnSources.map((source) => ({
      path: "/api/v1/burns/recent",
      query: { source },
      rows: "burns",
      expected: burns.filter((row) => row.source === source),
      limit: 5,
    })),
  ]
    .map((feed): Feed => ({ ...feed, request, check, rest: pageFields }))
    .concat({
      request,
      check,
      path: "/api/v1/marketplace/active-listings",
      rows: "listings",
      expected: lists.activeListings(chainState),
      limit: 2,
      rest: ({ total, last, ...page }) => ({
        ...pageFields({ ...page, total, last }),
        total,
        nextCursor: last?.listingId ?? null,
      }),
    });
}

/** The resources that existing clients read: searches of listings, every listing, the trades and the figures. */
async function expectMarketplace({ request, chainState }: Reader): Promise<void> {
  const all = market.marketListings(chainState);
  const active = all.filter(({ status }) => status === "active");
  const byPrice = active.toSorted((a, b) =>
    big(a.totalPriceUsdc) === big(b.totalPriceUsdc)
      ? Number(big(a.listingId) - big(b.listingId))
      : Number(big(a.totalPriceUsdc) - big(b.totalPriceUsdc)),
  );
  const check = expectBlock("x-indexed-block", chainState.block);
  const [seller] = addresses;
  const searches: { query: Readonly<Record<string, string>>; expected: readonly Row[] }[] = [
    { query: {}, expected: byPrice },
    { query: { sortBy: "price-desc" }, expected: byPrice.toReversed() },
    { query: { minDiscountBps: "2500" }, expected: byPrice.filter((row) => Number(row.discountBps) >= 2500) },
    { query: { sortBy: "listedAt-desc" }, expected: active },
    {
      query: { sortBy: "createdAt-desc", seller: seller ?? "" },
      expected: active.filter((row) => row.seller === seller),
    },
  ];
  for (const { query, expected } of searches) {
    await expectFeed({
      ...{ request, check, query, expected, rows: "listings", limit: 2, ways: ["offset"] },
      path: "/api/v1/marketplace/listings",
      rest: ({ last: _, ...page }) => page,
    });
  }
  for (const row of all) {
    const answer = await request(`/api/v1/marketplace/listings/${row.listingId}`);
    check(answer);
    expect(answer.json).toEqual(row);
  }
  await expectFeed({
    ...{ request, check, rows: "trades", limit: 3, rest: pageFields },
    path: "/api/v1/marketplace/history",
    expected: market.trades(chainState),
  });
  const figures = await request("/api/v1/marketplace/stats");
  check(figures);
  expect(figures.json).toEqual(stats.marketStats(chainState));
}

/** The activity feed, without and with each filter. */
function activityFeeds({ request, chainState }: Reader): Feed[] {
  const all = lists.activity(chainState);
  const middle = String(all[Math.floor(all.length / 2)]?.block_timestamp ?? 0);
  const filters: { query: Readonly<Record<string, string>>; expected: readonly Row[] }[] = [
    { query: {}, expected: all },
    ...activityTypes.map((type) => ({ query: { type }, expected: all.filter((row) => row.type === type) })),
    ...addresses.map((actor) => ({ query: { actor }, expected: all.filter((row) => row.actor === actor) })),
    {
      query: { actor: addresses[0] ?? "", type: "token_burned" },
      expected: all.filter((row) => row.actor === addresses[0] && row.type === "token_burned"),
    },
    { query: { since: middle }, expected: all.filter((row) => big(row.block_timestamp) >= big(middle)) },
    { query: { since: String(chainState.now + 1n) }, expected: [] },
    { query: { from: middle }, expected: all.filter((row) => big(row.block_timestamp) >= big(middle)) },
    { query: { to: middle }, expected: all.filter((row) => big(row.block_timestamp) < big(middle)) },
    {
      query: { from: middle, to: String(big(middle) + DAY), actor: addresses[0] ?? "" },
      expected: all.filter(
        (row) =>
          row.actor === addresses[0] &&
          big(row.block_timestamp) >= big(middle) &&
          big(row.block_timestamp) < big(middle) + DAY,
      ),
    },
  ];
  return filters.map(({ query, expected }) => ({
    request,
    check: expectBlock("x-indexed-block", chainState.block),
    path: "/api/v1/stats/activity",
    query,
    rows: "events",
    expected,
    limit: 17,
    rest: ({ count, last }) => ({ count, next_cursor: byPosition(last) }),
  }));
}

/** The price history. Each page is oldest first; the next page is older. */
function priceFeeds({ request, chainState }: Reader): Feed[] {
  const lengths = { "24h": DAY, "7d": 7n * DAY, "30d": 30n * DAY, all: undefined };
  const points = lists.prices(chainState).reverse();
  return Object.entries(lengths).map(([range, length]) => {
    const from = length === undefined ? null : chainState.now - length;
    return {
      request,
      check: expectBlock("x-indexed-block", chainState.block),
      path: "/api/v1/stats/token-price-history",
      query: { range },
      rows: "points",
      expected: points.filter(({ timestamp }) => big(timestamp) >= (from ?? 0n)),
      limit: 4,
      oldestFirst: true,
      ways: ["cursor"],
      rest: ({ count, last }) => ({
        range,
        from: from === null ? null : String(from),
        count,
        next_cursor: byPosition(last),
      }),
    };
  });
}

/** A wallet's policies and bonds, from the index or a scan of the chain. */
function walletFeeds({ request, chainState }: Reader, source: "index" | "chain"): Feed[] {
  const live = source === "chain";
  const check = expectBlock(live ? "x-chain-block" : "x-indexed-block", chainState.block);
  return addresses.flatMap((address): Feed[] => {
    const bonds = lists.bondsOf(chainState, address);
    const totalAmount = String(bonds.reduce((sum, { amount }) => sum + big(amount), 0n));
    const withdrawableUsdc = chainState.proceeds.get(address.toLowerCase()) ?? "0";
    return [
      {
        request,
        check,
        path: live ? `/api/v1/public/policies/${address}` : `/api/v1/policies/by-buyer/${address}`,
        rows: "policies",
        expected: lists.policiesOf(chainState, address, source),
        limit: 4,
        rest: (page) => ({ buyer: address, ...pageFields(page), total: page.total }),
      },
      {
        request,
        check,
        path: live ? `/api/v1/public/bonds/${address}` : `/api/v1/bonds/by-owner/${address}`,
        rows: "bonds",
        expected: bonds,
        limit: 2,
        ways: ["offset"],
        rest: ({ last, ...page }) => ({ owner: address, ...page, totalAmount, withdrawableUsdc }),
      },
    ];
  });
}

/** Expects the API's answers to match the chain. The index must have reached the block of `chainState`. */
export async function expectEndpoints(request: CheckedRequest, chainState: ChainState): Promise<void> {
  const reader = { request, chainState };
  await expectSums(reader);
  await expectMarketplace(reader);
  await expectAnalysis(request, chainState);
  await expectStats(request, chainState);
  for (const feed of [
    ...feeds(reader),
    ...activityFeeds(reader),
    ...priceFeeds(reader),
    ...walletFeeds(reader, "index"),
    ...walletFeeds(reader, "chain"),
  ]) {
    await expectFeed(feed);
  }
}
