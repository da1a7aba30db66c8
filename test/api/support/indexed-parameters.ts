/** The parameters of the reads of the index: a 400 for every invalid one, and the rows of a time. */
import { expect, test } from "vitest";
import { z } from "zod";
import type { CheckedRequest } from "../../support/openapi.ts";
import { failure, type TestApi } from "./api.ts";
import { wallet } from "./indexed-paths.ts";

const byBuyer = `/api/v1/policies/by-buyer/${wallet}`;
const byOwner = `/api/v1/bonds/by-owner/${wallet}`;
const feeds = [
  "/api/v1/stats/activity",
  "/api/v1/stats/claims",
  "/api/v1/policies/all",
  "/api/v1/stats/pauses",
  byBuyer,
  "/api/v1/triggers/recent",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/marketplace/history",
  "/api/v1/burns/recent",
];
/** Lists that take `from` and `to`. */
const timedLists = [
  ...feeds,
  "/api/v1/stats/token-price-history",
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/listings",
];
const details = z.object({ details: z.array(z.object({ path: z.string(), message: z.string() })) });

/** The rows of every feed, under whatever name, with the time by which they are listed. */
const timedRows = z
  .record(z.string(), z.unknown())
  .transform((body) => Object.values(body).find((value) => Array.isArray(value)) ?? [])
  .pipe(z.array(z.looseObject({})));
const timeOf = (row: Readonly<Record<string, unknown>>) =>
  Number(
    row.blockTimestamp ??
      row.block_timestamp ??
      row.soldAt ??
      row.timestamp ??
      row.listedAt ??
      row.createdAt ??
      row.started_at,
  );

export function indexedParameters(api: () => TestApi): void {
  const request: CheckedRequest = (path, more) => api().request(path, more);

  test.each([
    ["/api/v1/stats/token-price-history", "offset", "10001"],
    ...[...feeds, byOwner, "/api/v1/triggers/due", "/api/v1/marketplace/active-listings"].flatMap((path) =>
      [
        ["limit", "0"],
        ["limit", "101"],
        ["limit", "1.5"],
        ["limit", ""],
        ["offset", "-1"],
        ["offset", "10001"],
      ].map((bad): [string, string, string] => [path, bad[0] ?? "", bad[1] ?? ""]),
    ),
    ...[...feeds, "/api/v1/stats/token-price-history"].flatMap((path): [string, string, string][] => [
      [path, "cursor", "5"],
      [path, "cursor", "5-"],
      [path, "cursor", "-5-1"],
      [path, "cursor", "5-1-1"],
      [path, "cursor", "1e3-0"],
      [path, "cursor", `${"9".repeat(16)}-0`],
    ]),
    ["/api/v1/marketplace/active-listings", "cursor", "5-1"],
    ["/api/v1/marketplace/active-listings", "cursor", "9".repeat(79)],
    ...[...timedLists, "/api/v1/stats/queue"].flatMap((path): [string, string, string][] => [
      [path, "from", "2026-01-01"],
      [path, "to", "-1"],
      [path, "to", "0".repeat(16)],
    ]),
    ...["queue", "holders", "buyers"].flatMap((list): [string, string, string][] => [
      [`/api/v1/stats/${list}`, "limit", "0"],
      [`/api/v1/stats/${list}`, "limit", "101"],
      [`/api/v1/stats/${list}`, "cursor", "5-1"],
      [`/api/v1/stats/${list}`, "cursor", ""],
    ]),
    ["/api/v1/stats/holders", "cursor", `5-${wallet}x`],
    ["/api/v1/stats/holders", "epoch", "2028-12"],
    ["/api/v1/stats/holders", "epoch", String(2n ** 256n)],
    ["/api/v1/stats/market", "from", "yesterday"],
    ["/api/v1/stats/burners", "to", "-1"],
    ["/api/v1/stats/activity", "type", "nothing"],
    ["/api/v1/stats/activity", "type", ""],
    ["/api/v1/stats/activity", "actor", "0x12"],
    ["/api/v1/stats/activity", "since", "yesterday"],
    ["/api/v1/stats/activity", "since", "-1"],
    ["/api/v1/stats/token-price-history", "range", "1y"],
    ["/api/v1/stats/token-price-history", "limit", "1001"],
    ["/api/v1/burns/recent", "source", "nobody"],
  ])("GET %s with %s=%s gets 400 with the parameter's name", async (path, name, value) => {
    const answer = await request(`${path}?${name}=${encodeURIComponent(value)}`);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(details.parse(answer.json).details.map((detail) => detail.path)).toEqual([name]);
  });

  test.each(feeds)(
    "GET %s with a cursor and an offset gets 400: both set the start of the page",
    async (path) => {
      const answer = await request(`${path}?cursor=5-1&offset=1`);
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(details.parse(answer.json).details).toEqual([
        { path: "offset", message: "may not be combined with cursor" },
      ]);
    },
  );

  test.each(timedLists)(
    "GET %s with from and to: exactly the rows from the one to before the other, on pages too",
    async (path) => {
      const rowsOf = async (query: Readonly<Record<string, string | number>>) => {
        const search = Object.entries(query)
          .map(([name, value]) => `${name}=${value}`)
          .join("&");
        const answer = await request(`${path}?${search}`);
        expect(answer.status, answer.text).toBe(200);
        return timedRows.parse(answer.json);
      };
      const all = await rowsOf({ limit: 100, from: 0 });
      const times = all.map(timeOf).sort((a, b) => a - b);
      expect(times.length).toBeGreaterThan(0);
      expect(await rowsOf({ limit: 100, to: 99_999_999_999 })).toEqual(all);
      expect(await rowsOf({ to: times[0] ?? 0 })).toEqual([]);
      expect(await rowsOf({ from: (times.at(-1) ?? 0) + 1 })).toEqual([]);
      for (const edge of new Set(
        [0, 0.3, 0.5, 0.8].map((part) => times[Math.floor(part * times.length)] ?? 0),
      )) {
        const later = all.filter((row) => timeOf(row) >= edge);
        expect(await rowsOf({ limit: 100, from: edge })).toEqual(later);
        expect(await rowsOf({ limit: 100, to: edge, from: 0 })).toEqual(
          all.filter((row) => timeOf(row) < edge),
        );
        const within = await rowsOf({ limit: 100, from: edge, to: edge + 1 });
        expect(within).toEqual(all.filter((row) => timeOf(row) === edge));
        for (const [offset, row] of within.entries())
          expect(await rowsOf({ limit: 1, offset, from: edge, to: edge + 1 })).toContainEqual(row);
      }
      const empty = await request(`${path}?from=5&to=5`);
      expect(failure(empty)).toEqual([400, "validation_error"]);
      expect(details.parse(empty.json).details).toEqual([{ path: "to", message: "must be later than from" }]);
    },
  );

  test("an invalid address in the path gets 400 with its name", async () => {
    for (const path of ["/api/v1/policies/by-buyer/0x1", "/api/v1/bonds/by-owner/nobody"]) {
      const answer = await request(path);
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(details.parse(answer.json).details.map((detail) => detail.path)).toEqual(["address"]);
    }
  });
}
