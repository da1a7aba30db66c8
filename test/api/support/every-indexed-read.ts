/** What every read of the index has: one block per response, ETags, CSV, and the same response from the cache. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { CheckedRequest } from "../../support/openapi.ts";
import { sendBytes } from "../../support/raw-http.ts";
import { failure, faultAt, type TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";
import { paths } from "./indexed-paths.ts";

const changing = ["date", "x-request-id", "x-ratelimit-remaining", "x-ratelimit-reset"];
const stableHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => !changing.includes(name)));

let asked = 0;
/** The same read at an address that nobody has asked for, so that it is in no cache. */
function uncached(path: string): string {
  asked += 1;
  return `${path}${path.includes("?") ? "" : "?"}${"&".repeat(asked)}`;
}

export function everyIndexedRead(api: () => TestApi): void {
  const request: CheckedRequest = (path, more) => api().request(path, more);
  // Nobody has asked for a path since this block until its first test asks.
  beforeAll(async () => {
    await api().chain.client.mine({ blocks: 1 });
    await answersCaughtUp(api());
  });

  describe.each(paths)("GET %s", (path) => {
    test("states its block, and the cached response equals the one from the tables", async () => {
      const first = await request(path); // from the tables: nobody has asked since that block
      expect(first.status).toBe(200);
      expect(first.headers.get("x-indexed-block")).toBe(String(await api().chain.client.getBlockNumber()));
      expect(first.headers.get("cache-control")).toBe("public, no-cache");
      const cached = await request(path);
      expect(cached.text).toBe(first.text);
      const fromTables = await request(uncached(path));
      expect(fromTables.text).toBe(first.text);
      expect(stableHeaders(cached.headers)).toEqual(stableHeaders(fromTables.headers));
      expect(stableHeaders(cached.headers)).toEqual(stableHeaders(first.headers));
      expect(cached.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      const named = await request(path, { headers: { "x-request-id": "mine" } });
      expect([named.text, named.headers.get("x-request-id")]).toEqual([first.text, "mine"]);
    });

    test("as CSV it is the same block's table, with a tag of its own, beside the cached JSON", async () => {
      const json = await request(path);
      const csv = { headers: { accept: "text/csv" } };
      const table = await request(path, csv);
      expect([table.status, table.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
      const counted = z.object({ count: z.int() }).safeParse(json.json).data?.count;
      if (counted !== undefined) expect(table.text.split("\r\n")).toHaveLength(counted + 2);
      expect(table.headers.get("x-indexed-block")).toBe(json.headers.get("x-indexed-block"));
      const tag = table.headers.get("etag") ?? "";
      expect(tag).not.toBe(json.headers.get("etag"));
      const same = await request(path, { headers: { ...csv.headers, "if-none-match": tag } });
      expect([same.status, same.text]).toEqual([304, ""]);
      expect((await request(path)).text).toBe(json.text);
      // Media types have no case, and a range may name them.
      for (const accept of ["Text/CSV", "text/*"]) {
        const again = await request(path, { headers: { accept } });
        expect([again.headers.get("content-type"), again.text]).toEqual([
          "text/csv; charset=utf-8",
          table.text,
        ]);
      }
    });

    test("a cached response needs one valid Host as every other", async () => {
      await request(path);
      for (const hosts of ["", "Host: a\r\nHost: b\r\n", "Host: a b\r\n"]) {
        const bytes = `GET ${path} HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`;
        expect(await sendBytes(api().stack.apiUrl, bytes)).toMatch(/^HTTP\/1.1 400/);
      }
    });

    test("a matching If-None-Match gets 304 without a body, cached or not", async () => {
      const tag = (await request(path)).headers.get("etag") ?? "";
      expect(tag).toMatch(/^"[\w-]{16}"$/);
      for (const address of [() => path, () => uncached(path)]) {
        for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
          const answer = await request(address(), { headers: { "if-none-match": known } });
          expect([answer.status, answer.text]).toEqual([304, ""]);
          expect(answer.headers.get("etag")).toBe(tag);
          expect(answer.headers.get("x-indexed-block")).not.toBeNull();
        }
        const other = await request(address(), { headers: { "if-none-match": '"other"' } });
        expect(other.status).toBe(200);
      }
      const head = await request(path, { method: "HEAD" });
      expect([head.status, head.text, head.headers.get("etag")]).toEqual([200, "", tag]);
    });

    test("an unknown parameter gets 400 with its name", async () => {
      const answer = await request(`${path}${path.includes("?") ? "&" : "?"}Limits=1`);
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(faultAt(answer, "Limits")).toMatch(/^is unknown/);
    });
  });

  test.each([
    ["cursors", "/api/v1/stats/activity", 3],
    ["cursors beside a total", "/api/v1/marketplace/active-listings", 1],
    ["offsets", "/api/v1/marketplace/listings", 1],
  ])("the pages of a table with %s lead to one another by the header Link", async (_, table, limit) => {
    const lines: string[] = [];
    for (let path: string | undefined = `${table}?limit=${limit}`; path !== undefined; ) {
      const { text, headers } = await request(path, { headers: { accept: "text/csv" } });
      lines.push(...text.trimEnd().split("\r\n").slice(1));
      path = /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
    }
    const all = await request(table, { headers: { accept: "text/csv" } });
    expect(lines).toEqual(all.text.trimEnd().split("\r\n").slice(1));
    expect(lines.length).toBeGreaterThan(limit);
  });
}
