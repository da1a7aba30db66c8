/** Compares the analysts' reads with the chain at the same block: cover, products, series, claims and all policies. */
import { expect } from "vitest";
import { assetBytes32, productIdOf } from "../../../lib/products.ts";
import type { Row } from "../../src/support/rows.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import { big, type ChainState } from "./chain-state.ts";
import { cover, productStats } from "./expected-cover.ts";
import { allPolicies } from "./expected-lists.ts";
import { claims, series } from "./expected-series.ts";
import { byPosition, expectFeed, type Feed, type Page } from "./pages.ts";

type Reader = {
  readonly request: CheckedRequest;
  readonly chainState: ChainState;
  /** Checks the block header of every answer. */
  readonly check: (answer: HttpAnswer) => void;
};

const DAY = 86_400n;
const metrics = {
  ofProducts: ["premiums", "cover", "policies", "payouts", "triggers"],
  ofAll: ["burns", "bond_sales", "new_buyers", "returning_buyers"],
};
const product = productIdOf("FLASHBTC24-001");

async function expectBody({ request, check }: Reader, path: string, body: Row): Promise<void> {
  const answer = await request(path);
  expect(answer.status, `${path}: ${answer.text.slice(0, 300)}`).toBe(200);
  check(answer);
  expect(answer.json, path).toEqual(body);
}

/** Every metric by each interval, over all of history as far as it may be asked for. */
async function expectSeries(reader: Reader): Promise<void> {
  const { chainState } = reader;
  const { now, events } = chainState;
  const first = big(events[0]?.position.block_timestamp ?? now);
  for (const [interval, most] of [
    ["day", 360n * DAY],
    ["week", 360n * 7n * DAY],
    ["month", 360n * 28n * DAY],
  ] as const) {
    const oldest = now - most;
    const isLong = first < oldest;
    const from = isLong ? oldest : first;
    for (const metric of [...metrics.ofProducts, ...metrics.ofAll]) {
      const query = `metric=${metric}&interval=${interval}`;
      const path = `/api/v1/stats/series?${query}&from=${from}`;
      await expectBody(reader, path, series(chainState, { metric, interval }, from));
    }
    for (const metric of metrics.ofProducts) {
      const path = `/api/v1/stats/series?metric=${metric}&interval=${interval}&from=${from}&product=${product}`;
      await expectBody(reader, path, series(chainState, { metric, interval, product }, from));
    }
    const to = from + (now - from) / 2n + 1n;
    const path = `/api/v1/stats/series?metric=new_buyers&interval=${interval}&from=${from}&to=${to}`;
    await expectBody(reader, path, series(chainState, { metric: "new_buyers", interval }, from, to));
  }
  // The last two days have few policies, mostly fewer than twice the buyers: then only the buyers of these are read.
  const recent = now - DAY;
  const path = `/api/v1/stats/series?metric=new_buyers&interval=day&from=${recent}`;
  await expectBody(reader, path, series(chainState, { metric: "new_buyers", interval: "day" }, recent));
}

/** Of all policies, and of those bought before and since one in the middle of history, and within a day of it. */
async function expectProductStats(reader: Reader): Promise<void> {
  const { chainState } = reader;
  const { policies, now } = chainState;
  const times = policies.map(({ created_at }) => big(created_at)).sort((a, b) => Number(a - b));
  const middle = times[Math.floor(times.length / 2)] ?? now;
  await expectBody(reader, "/api/v1/stats/products", productStats(chainState));
  for (const period of [
    { from: middle },
    { to: middle },
    { from: middle, to: middle + DAY },
    { from: now + DAY },
  ]) {
    const query = Object.entries(period).map(([name, time]) => `${name}=${time}`);
    await expectBody(reader, `/api/v1/stats/products?${query.join("&")}`, productStats(chainState, period));
  }
}

const pageFields = ({ count, limit, offset, last }: Page): Row => ({
  ...{ count, limit, offset },
  nextCursor: byPosition(last),
});

/** Filters, and the rows that each leaves. */
type Filters = readonly { query: Readonly<Record<string, string>>; keep: (row: Row) => boolean }[];

function claimFeeds({ request, check, chainState }: Reader): Feed[] {
  const all = claims(chainState);
  const middle = all[Math.floor(all.length / 2)];
  const time = String(middle?.triggered_at ?? 0);
  const filters: Filters = [
    { query: {}, keep: () => true },
    { query: { product }, keep: (row) => row.product_id === product },
    {
      query: { buyer: String(middle?.buyer ?? `0x${"0".repeat(40)}`) },
      keep: (row) => row.buyer === middle?.buyer,
    },
    {
      query: { buyer: String(middle?.buyer ?? `0x${"0".repeat(40)}`), product },
      keep: (row) => row.buyer === middle?.buyer && row.product_id === product,
    },
    { query: { from: time }, keep: (row) => big(row.triggered_at) >= big(time) },
    {
      query: { to: time, product },
      keep: (row) => big(row.triggered_at) < big(time) && row.product_id === product,
    },
  ];
  return filters.map(({ query, keep }) => ({
    ...{ request, check, query, rows: "claims", limit: 3, expected: all.filter(keep) },
    path: "/api/v1/stats/claims",
    rest: ({ count, last }) => ({ count, next_cursor: byPosition(last) }),
  }));
}

/** The percentage of basis points. */
const percent = (bps: unknown) => (typeof bps === "number" ? (bps / 100).toFixed(2) : null);

function policyFeeds({ request, check, chainState }: Reader): Feed[] {
  const all = allPolicies(chainState, "index").map(
    (row): Row => ({
      ...row,
      distanceToTriggerPercent: percent(row.distanceToTriggerBps),
    }),
  );
  const middle = all[Math.floor(all.length / 2)];
  const buyer = String(middle?.buyer ?? `0x${"0".repeat(40)}`);
  const time = String(middle?.createdAt ?? 0);
  const expiry = String(middle?.expiresAt ?? 0);
  const asset = assetBytes32("BTC");
  const isBtc = (row: Row) => String(row.productName).startsWith("FLASHBTC");
  const filters: Filters = [
    { query: {}, keep: () => true },
    { query: { product }, keep: (row) => row.productId === product },
    { query: { asset }, keep: isBtc },
    { query: { asset, product }, keep: (row) => row.productId === product },
    { query: { asset: assetBytes32("ETH"), product }, keep: () => false },
    ...["Waiting", "Active", "Triggered", "Expired", "Cancelled"].flatMap(
      (status): Filters => [
        { query: { status }, keep: (row) => row.status === status },
        { query: { status, asset }, keep: (row) => row.status === status && isBtc(row) },
        { query: { status, buyer }, keep: (row) => row.status === status && row.buyer === buyer },
      ],
    ),
    { query: { buyer, asset }, keep: (row) => row.buyer === buyer && isBtc(row) },
    { query: { from: time }, keep: (row) => big(row.createdAt) >= big(time) },
    {
      query: { to: time, product },
      keep: (row) => big(row.createdAt) < big(time) && row.productId === product,
    },
    { query: { expiresFrom: expiry }, keep: (row) => big(row.expiresAt) >= big(expiry) },
    { query: { expiresTo: expiry }, keep: (row) => big(row.expiresAt) < big(expiry) },
    {
      query: { expiresFrom: expiry, expiresTo: String(big(expiry) + DAY), status: "Expired" },
      keep: (row) =>
        big(row.expiresAt) >= big(expiry) &&
        big(row.expiresAt) < big(expiry) + DAY &&
        row.status === "Expired",
    },
  ];
  return filters.map(({ query, keep }) => ({
    ...{ request, check, query, rows: "policies", limit: 13, expected: all.filter(keep), rest: pageFields },
    path: "/api/v1/policies/all",
  }));
}

/** Expects the answers to match the chain. The index must have reached the block of `chainState`. */
export async function expectAnalysis(request: CheckedRequest, chainState: ChainState): Promise<void> {
  const check = ({ headers }: HttpAnswer) =>
    expect(headers.get("x-indexed-block")).toBe(String(chainState.block));
  const reader = { request, chainState, check };
  await expectBody(reader, "/api/v1/stats/cover", cover(chainState));
  await expectProductStats(reader);
  await expectSeries(reader);
  for (const feed of [...claimFeeds(reader), ...policyFeeds(reader)]) await expectFeed(feed);
}
