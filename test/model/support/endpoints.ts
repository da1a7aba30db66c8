/** Every indexed read of the API, and both live ones, against what the chain has at the same block. */
import { expect } from "vitest";
import { activityTypes, burnSources } from "../../../ponder.schema.ts";
import type { Row } from "../../src/support/rows.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import * as lists from "./expected-lists.ts";
import * as stats from "./expected-stats.ts";
import { byPosition, expectFeed, type Feed, type Page } from "./pages.ts";
import { players } from "./scene.ts";
import { big, type Truth } from "./truth.ts";

const HOUR = 3_600n;
const DAY = 24n * HOUR;

/** The players, and somebody of whom the chain has never heard. */
const addresses = [...players.map(({ address }) => address), "0x000000000000000000000000000000000000dEaD"];

const onBlock = (header: string, block: bigint) => (answer: HttpAnswer) =>
  expect(answer.headers.get(header), header).toBe(String(block));

const numbered = ({ count, limit, offset, last }: Page): Row => ({
  count,
  limit,
  offset,
  nextCursor: byPosition(last),
});

type Reader = { readonly request: CheckedRequest; readonly truth: Truth };

/** Both sums, and the health of an index that has read all there is. */
async function expectSums({ request, truth }: Reader): Promise<void> {
  for (const [path, body] of [
    ["/api/v1/stats/burns", stats.burnStats(truth)],
    ["/api/v1/stats/protocol", stats.protocolStats(truth)],
  ] as const) {
    const answer = await request(path);
    onBlock("x-indexed-block", truth.block)(answer);
    expect(answer.json, path).toEqual(body);
  }
  expect((await request("/api/v1/indexer/health")).json).toMatchObject({
    status: "synced",
    lastSyncedBlock: String(truth.block),
    headBlock: String(truth.block),
    lagBlocks: "0",
    headTimestamp: String(truth.now),
    heartbeatAt: expect.stringMatching(/^\d+$/),
  });
}

/** The feeds that anybody reads. */
function feeds({ request, truth }: Reader): Feed[] {
  const check = onBlock("x-indexed-block", truth.block);
  const burns = lists.burns(truth);
  return [
    { path: "/api/v1/triggers/recent", rows: "triggers", expected: lists.triggers(truth), limit: 3 },
    { path: "/api/v1/marketplace/recent-sales", rows: "sales", expected: lists.sales(truth), limit: 3 },
    { path: "/api/v1/burns/recent", rows: "burns", expected: burns, limit: 11 },
    ...burnSources.map((source) => ({
      path: "/api/v1/burns/recent",
      query: { source },
      rows: "burns",
      expected: burns.filter((row) => row.source === source),
      limit: 5,
    })),
  ]
    .map((feed): Feed => ({ ...feed, request, check, rest: numbered }))
    .concat({
      request,
      check,
      path: "/api/v1/marketplace/active-listings",
      rows: "listings",
      expected: lists.activeListings(truth),
      limit: 2,
      rest: ({ total, last, ...page }) => ({
        ...numbered({ ...page, total, last }),
        total,
        nextCursor: last?.listingId ?? null,
      }),
    });
}

/** The unified feed, whole and by each of its filters. */
function activityFeeds({ request, truth }: Reader): Feed[] {
  const all = lists.activity(truth);
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
    { query: { since: String(truth.now + 1n) }, expected: [] },
  ];
  return filters.map(({ query, expected }) => ({
    request,
    check: onBlock("x-indexed-block", truth.block),
    path: "/api/v1/stats/activity",
    query,
    rows: "events",
    expected,
    limit: 17,
    rest: ({ count, last }) => ({ count, next_cursor: byPosition(last) }),
  }));
}

/** The price history, of which each page is oldest first and the next one is older. */
function priceFeeds({ request, truth }: Reader): Feed[] {
  const lengths = { "24h": DAY, "7d": 7n * DAY, "30d": 30n * DAY, all: undefined };
  const points = lists.prices(truth).reverse();
  return Object.entries(lengths).map(([range, length]) => {
    const from = length === undefined ? null : truth.now - length;
    return {
      request,
      check: onBlock("x-indexed-block", truth.block),
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

/** What a wallet has, out of the index and by a scan of the chain. */
function walletFeeds({ request, truth }: Reader, source: "index" | "chain"): Feed[] {
  const live = source === "chain";
  const check = onBlock(live ? "x-chain-block" : "x-indexed-block", truth.block);
  return addresses.flatMap((address): Feed[] => {
    const bonds = lists.bondsOf(truth, address);
    const totalAmount = String(bonds.reduce((sum, { amount }) => sum + big(amount), 0n));
    return [
      {
        request,
        check,
        path: live ? `/api/v1/public/policies/${address}` : `/api/v1/policies/by-buyer/${address}`,
        rows: "policies",
        expected: lists.policiesOf(truth, address, source),
        limit: 4,
        rest: (page) => ({ buyer: address, ...numbered(page), total: page.total }),
      },
      {
        request,
        check,
        path: live ? `/api/v1/public/bonds/${address}` : `/api/v1/bonds/by-owner/${address}`,
        rows: "bonds",
        expected: bonds,
        limit: 2,
        ways: ["offset"],
        rest: ({ last, ...page }) => ({ owner: address, ...page, totalAmount }),
      },
    ];
  });
}

/** Fails where an answer of the API differs from the chain; the index has reached the block of `truth`. */
export async function expectEndpoints(request: CheckedRequest, truth: Truth): Promise<void> {
  const reader = { request, truth };
  await expectSums(reader);
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
