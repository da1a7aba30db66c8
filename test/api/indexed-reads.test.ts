/** What all indexed reads share: one block per response, ETags, pages, and a 400 for every invalid parameter. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { productIdOf } from "../../lib/products.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyers, chapters, historyContext, trade } from "../src/support/history.ts";
import { sendBytes } from "../support/raw-http.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { failure, startApi, type TestApi } from "./support/api.ts";

const [alice] = buyers;
if (!alice) throw new Error("the history has no buyers");

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  for (const chapter of chapters) await chapter.play(historyContext(api.chain));
  await waitForIndex();
});

const wallet = alice.address;
const paths = [
  "/api/v1/stats/burns",
  "/api/v1/stats/protocol",
  "/api/v1/stats/activity",
  "/api/v1/stats/token-price-history",
  "/api/v1/stats/cover",
  "/api/v1/stats/products",
  "/api/v1/stats/series?metric=premiums",
  "/api/v1/stats/claims",
  "/api/v1/policies/all",
  "/api/v1/policies/nearest",
  "/api/v1/stats/vault",
  "/api/v1/stats/bonds/maturities",
  "/api/v1/stats/queue",
  "/api/v1/stats/holders?epoch=202812",
  "/api/v1/stats/buyers",
  "/api/v1/stats/market",
  "/api/v1/stats/burners?from=1767225600",
  "/api/v1/stats/pauses",
  "/api/v1/stats/prices",
  "/api/v1/stats/price-history?asset=0x4254430000000000000000000000000000000000000000000000000000000000",
  "/api/v1/stats/keeper",
  `/api/v1/policies/by-buyer/${wallet}`,
  `/api/v1/bonds/by-owner/${wallet}`,
  "/api/v1/triggers/recent",
  "/api/v1/triggers/due",
  `/api/v1/triggers/${productIdOf("FLASHBTC1H-001")}/1`,
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/marketplace/listings?sortBy=price-desc",
  "/api/v1/marketplace/listings/1",
  "/api/v1/marketplace/stats",
  "/api/v1/marketplace/history",
  "/api/v1/burns/recent",
];

test.each([
  ["cursors", "/api/v1/stats/activity", 3],
  ["cursors beside a total", "/api/v1/marketplace/active-listings", 1],
  ["offsets", "/api/v1/marketplace/listings", 1],
])("the pages of a table with %s lead to one another by the header Link", async (_, table, limit) => {
  const lines: string[] = [];
  for (let path: string | undefined = `${table}?limit=${limit}`; path !== undefined; ) {
    const { text, headers } = await api.request(path, { headers: { accept: "text/csv" } });
    lines.push(...text.trimEnd().split("\r\n").slice(1));
    path = /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
  }
  const all = await api.request(table, { headers: { accept: "text/csv" } });
  expect(lines).toEqual(all.text.trimEnd().split("\r\n").slice(1));
  expect(lines.length).toBeGreaterThan(limit);
});

/** Waits until responses are of the chain's newest block. */
async function waitForIndex(): Promise<void> {
  await waitFor({
    what: "the index to reach the chain's head",
    probe: async () => {
      const { headers } = await api.request("/api/v1/stats/protocol");
      return headers.get("x-indexed-block") === String(await api.chain.client.getBlockNumber())
        ? true
        : undefined;
    },
  });
}

const changing = ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"];
const stableHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !changing.includes(name)));

describe.each(paths)("GET %s", (path) => {
  test("states its block, and the cached response equals the one from the tables", async () => {
    await api.chain.client.mine({ blocks: 1 });
    await waitForIndex();
    const first = await api.request(path); // from the tables: nobody has asked since that block
    expect(first.status).toBe(200);
    expect(first.headers.get("x-indexed-block")).toBe(String(await api.chain.client.getBlockNumber()));
    expect(first.headers.get("cache-control")).toBe("public, no-cache");
    const cached = await api.request(path);
    expect(cached.text).toBe(first.text);
    // A request with its own x-request-id is answered by the app.
    const byApp = await api.request(path, { headers: { "x-request-id": "mine" } });
    expect(byApp.text).toBe(first.text);
    expect(stableHeaders(cached.headers)).toEqual(stableHeaders(byApp.headers));
    expect(stableHeaders(cached.headers)).toEqual(stableHeaders(first.headers));
    expect(cached.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("as CSV it is the same block's table, with a tag of its own, beside the cached JSON", async () => {
    const json = await api.request(path);
    const csv = { headers: { accept: "text/csv" } };
    const table = await api.request(path, csv);
    expect([table.status, table.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    const counted = z.object({ count: z.int() }).safeParse(json.json).data?.count;
    if (counted !== undefined) expect(table.text.split("\r\n")).toHaveLength(counted + 2);
    expect(table.headers.get("x-indexed-block")).toBe(json.headers.get("x-indexed-block"));
    const tag = table.headers.get("etag") ?? "";
    expect(tag).not.toBe(json.headers.get("etag"));
    const same = await api.request(path, { headers: { ...csv.headers, "if-none-match": tag } });
    expect([same.status, same.text]).toEqual([304, ""]);
    expect((await api.request(path)).text).toBe(json.text);
    // Media types have no case, and a range may name them.
    for (const accept of ["Text/CSV", "text/*"]) {
      const again = await api.request(path, { headers: { accept } });
      expect([again.headers.get("content-type"), again.text]).toEqual([
        "text/csv; charset=utf-8",
        table.text,
      ]);
    }
  });

  test("a cached response needs one valid Host as every other", async () => {
    await api.request(path);
    for (const hosts of ["", "Host: a\r\nHost: b\r\n", "Host: a b\r\n"]) {
      const bytes = `GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`;
      expect(await sendBytes(api.stack.apiUrl, bytes)).toMatch(/^HTTP\/1.1 400/);
    }
  });

  test("a matching If-None-Match gets 304 without a body, cached or not", async () => {
    const tag = (await api.request(path)).headers.get("etag") ?? "";
    expect(tag).toMatch(/^"[\w-]{16}"$/);
    const cachedAndNot: Record<string, string>[] = [{}, { "x-request-id": "mine" }];
    for (const more of cachedAndNot) {
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const answer = await api.request(path, { headers: { "if-none-match": known, ...more } });
        expect([answer.status, answer.text]).toEqual([304, ""]);
        expect(answer.headers.get("etag")).toBe(tag);
        expect(answer.headers.get("x-indexed-block")).not.toBeNull();
      }
      const other = await api.request(path, { headers: { "if-none-match": '"other"', ...more } });
      expect(other.status).toBe(200);
    }
    const head = await api.request(path, { method: "HEAD" });
    expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", tag]);
  });

  test("an unknown parameter changes nothing", async () => {
    const answer = await api.request(`${path}${path.includes("?") ? "&" : "?"}nothing=1`);
    expect(answer.text).toBe((await api.request(path)).text);
  });
});

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
  const answer = await api.request(`${path}?${name}=${encodeURIComponent(value)}`);
  expect(failure(answer)).toEqual([400, "validation_error"]);
  expect(details.parse(answer.json).details.map((detail) => detail.path)).toEqual([name]);
});

test.each(feeds)(
  "GET %s with a cursor and an offset gets 400: both set the start of the page",
  async (path) => {
    const answer = await api.request(`${path}?cursor=5-1&offset=1`);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(details.parse(answer.json).details).toEqual([
      { path: "offset", message: "may not be combined with cursor" },
    ]);
  },
);

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

test.each(timedLists)(
  "GET %s with from and to: exactly the rows from the one to before the other, on pages too",
  async (path) => {
    const rowsOf = async (query: Readonly<Record<string, string | number>>) => {
      const search = Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join("&");
      const answer = await api.request(`${path}?${search}`);
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
    const empty = await api.request(`${path}?from=5&to=5`);
    expect(failure(empty)).toEqual([400, "validation_error"]);
    expect(details.parse(empty.json).details).toEqual([{ path: "to", message: "must be later than from" }]);
  },
);

test("an invalid address in the path gets 400 with its name", async () => {
  for (const path of ["/api/v1/policies/by-buyer/0x1", "/api/v1/bonds/by-owner/nobody"]) {
    const answer = await api.request(path);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect(details.parse(answer.json).details.map((detail) => detail.path)).toEqual(["address"]);
  }
});

const activity = z.object({
  events: z.array(
    z.looseObject({
      type: z.string(),
      actor: z.string(),
      block_number: z.string(),
      block_timestamp: z.string(),
      log_index: z.number(),
    }),
  ),
  next_cursor: z.string().nullable(),
});
const read = async (query: string) =>
  activity.parse((await api.request(`/api/v1/stats/activity?${query}`)).json);
type Events = z.output<typeof activity>["events"];
const keysOf = (events: Events) => events.map((event) => `${event.block_number}-${event.log_index}`);

test("pages by cursor contain each event once, also if new events arrive between two pages", async () => {
  const before = (await read("limit=100")).events;
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await read(`limit=7${cursor ? `&cursor=${cursor}` : ""}`);
    seen.push(...keysOf(page.events));
    cursor = page.next_cursor;
    if (seen.length === 7) await trade(historyContext(api.chain));
  }
  await waitForIndex();
  expect(seen.slice(0, before.length)).toEqual(keysOf(before).slice(0, seen.length));
  expect(new Set(seen).size).toBe(seen.length);
  expect((await read("limit=100")).events.length).toBeGreaterThan(before.length);
});

test("filters return exactly the matching events, alone and combined", async () => {
  const { events: all, next_cursor } = await read("limit=100");
  expect(next_cursor).toBeNull();
  const middle = all[Math.floor(all.length / 2)];
  if (!middle) throw new Error("no events");
  const { type, actor, block_timestamp: since } = middle;
  const is = {
    type: (event: Events[number]) => event.type === type,
    actor: (event: Events[number]) => event.actor === actor,
    since: (event: Events[number]) => BigInt(event.block_timestamp) >= BigInt(since),
  };
  const values = { type, actor: actor.toLowerCase(), since };
  for (const names of [
    ["type"],
    ["actor"],
    ["since"],
    ["type", "actor"],
    ["type", "since"],
    ["type", "actor", "since"],
  ] as const) {
    const query = names.map((name) => `${name}=${values[name]}`).join("&");
    const expected = all.filter((event) => names.every((name) => is[name](event)));
    expect(expected.length).toBeGreaterThan(0);
    expect(keysOf((await read(query)).events), query).toEqual(keysOf(expected));
    const paged = await read(`${query}&limit=1&offset=${expected.length - 1}`);
    expect(keysOf(paged.events), query).toEqual(keysOf(expected.slice(-1)));
    expect(paged.next_cursor).toBeNull();
  }
  expect((await read("since=99999999999")).events).toEqual([]);
});

test("while the chain grows, a client never gets an older block than before, on any endpoint", async () => {
  /** The blocks of each client's responses. */
  const followed = Array.from({ length: 6 }, (): bigint[] => []);
  const haveSeenTwo = () => followed.every((blocks) => new Set(blocks).size > 1);
  const growing = (async () => {
    for (let n = 0; n < 10 || (n < 500 && !haveSeenTwo()); n += 1) await trade(historyContext(api.chain));
  })();
  let done = false;
  const finished = growing.finally(() => {
    done = true;
  });
  await Promise.all(
    followed.map(async (blocks, client) => {
      for (let n = client; !done; n += 1) {
        const path = paths[n % paths.length] ?? "";
        const { headers } = await api.request(path);
        blocks.push(BigInt(headers.get("x-indexed-block") ?? -1));
      }
    }),
  );
  await finished;
  for (const blocks of followed) {
    expect(blocks).toEqual(blocks.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  }
  expect(haveSeenTwo()).toBe(true);
});

test("a list that a new block leaves as it was is 304 with the new block; so is its table", async () => {
  await waitForIndex();
  const accepted: Record<string, string>[] = [{}, { accept: "text/csv" }];
  for (const path of ["/api/v1/stats/burns", "/api/v1/stats/activity", "/api/v1/marketplace/recent-sales"]) {
    for (const headers of accepted) {
      const before = await api.request(path, { headers });
      await api.chain.client.mine({ blocks: 1 });
      await waitForIndex();
      const tag = before.headers.get("etag") ?? "";
      const after = await api.request(path, { headers: { ...headers, "if-none-match": tag } });
      expect([after.status, after.text, after.headers.get("etag")], path).toEqual([304, "", tag]);
      expect(Number(after.headers.get("x-indexed-block"))).toBe(
        Number(before.headers.get("x-indexed-block")) + 1,
      );
    }
  }
});

test("a reorganisation replaces cached responses", async () => {
  await trade(historyContext(api.chain));
  await waitForIndex();
  const before = await api.request("/api/v1/stats/activity");
  expect(await askRpc(api.chain.url, "anvil_reorg", [3, []])).toEqual({ result: null });
  await api.chain.client.mine({ blocks: 1 });
  const head = String(await api.chain.client.getBlockNumber());
  // The replaced blocks held the only difference to the answer before.
  const after = await waitFor({
    what: "the responses to follow the chain",
    probe: async () => {
      const answer = await api.request("/api/v1/stats/activity");
      const isReplaced = answer.headers.get("etag") !== before.headers.get("etag");
      return isReplaced && answer.headers.get("x-indexed-block") === head ? answer : undefined;
    },
  });
  expect(Number(head)).toBe(Number(before.headers.get("x-indexed-block")) + 1);
  expect(activity.parse(after.json).events.length).toBeLessThan(activity.parse(before.json).events.length);
});
