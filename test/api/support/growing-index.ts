/** Reads of the index while the chain grows, stays as it was, and is reorganised; and the activity's pages and filters. */
import { expect, test } from "vitest";
import { z } from "zod";
import { waitFor } from "../../../scripts/local/wait.ts";
import { historyContext, trade } from "../../src/support/history.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import { askRpc } from "../../support/rpc-proxy.ts";
import type { TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";
import { paths } from "./indexed-paths.ts";

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
type Events = z.output<typeof activity>["events"];
const keysOf = (events: Events) => events.map((event) => `${event.block_number}-${event.log_index}`);

/** The history has fewer events than the longest page. */
export function activityPages(api: () => TestApi): void {
  const request: CheckedRequest = (path, more) => api().request(path, more);
  const read = async (query: string) =>
    activity.parse((await request(`/api/v1/stats/activity?${query}`)).json);

  test("pages by cursor contain each event once, also if new events arrive between two pages", async () => {
    const before = (await read("limit=100")).events;
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await read(`limit=7${cursor ? `&cursor=${cursor}` : ""}`);
      seen.push(...keysOf(page.events));
      cursor = page.next_cursor;
      if (seen.length === 7) await trade(historyContext(api().chain));
    }
    await answersCaughtUp(api());
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
}

export function growingIndex(api: () => TestApi): void {
  const request: CheckedRequest = (path, more) => api().request(path, more);

  test("a list that a new block leaves as it was is 304 with the new block; so is its table", async () => {
    await answersCaughtUp(api());
    const accepted: Record<string, string>[] = [{}, { accept: "text/csv" }];
    for (const path of [
      "/api/v1/stats/burns",
      "/api/v1/stats/activity",
      "/api/v1/marketplace/recent-sales",
    ]) {
      for (const headers of accepted) {
        const before = await request(path, { headers });
        await api().chain.client.mine({ blocks: 1 });
        await answersCaughtUp(api());
        const tag = before.headers.get("etag") ?? "";
        const after = await request(path, { headers: { ...headers, "if-none-match": tag } });
        expect([after.status, after.text, after.headers.get("etag")], path).toEqual([304, "", tag]);
        expect(Number(after.headers.get("x-indexed-block"))).toBe(
          Number(before.headers.get("x-indexed-block")) + 1,
        );
      }
    }
  });

  test("a reorganisation replaces cached responses", async () => {
    await trade(historyContext(api().chain));
    await answersCaughtUp(api());
    const before = await request("/api/v1/stats/activity");
    expect(await askRpc(api().chain.url, "anvil_reorg", [3, []])).toEqual({ result: null });
    await api().chain.client.mine({ blocks: 1 });
    const head = String(await api().chain.client.getBlockNumber());
    // The replaced blocks held the only difference to the answer before.
    const after = await waitFor({
      what: "the responses to follow the chain",
      probe: async () => {
        const answer = await request("/api/v1/stats/activity");
        const isReplaced = answer.headers.get("etag") !== before.headers.get("etag");
        return isReplaced && answer.headers.get("x-indexed-block") === head ? answer : undefined;
      },
    });
    expect(Number(head)).toBe(Number(before.headers.get("x-indexed-block")) + 1);
    const newest = (json: unknown) => BigInt(activity.parse(json).events[0]?.block_number ?? 0);
    expect(newest(after.json)).toBeLessThan(newest(before.json));
  });

  test("while the chain grows, a client never gets an older block than before, on any endpoint", async () => {
    /** The blocks of the responses of each client, which asks for every path. */
    const followed = Array.from({ length: 3 }, (): bigint[] => []);
    const haveSeenAll = () =>
      followed.every((blocks) => new Set(blocks).size > 1 && blocks.length > paths.length);
    const growing = (async () => {
      for (let n = 0; n < 4 || (n < 500 && !haveSeenAll()); n += 1) await trade(historyContext(api().chain));
    })();
    let done = false;
    const finished = growing.finally(() => {
      done = true;
    });
    await Promise.all(
      followed.map(async (blocks, client) => {
        for (let n = client; !done; n += 1) {
          const path = paths[n % paths.length] ?? "";
          const { headers } = await request(path);
          blocks.push(BigInt(headers.get("x-indexed-block") ?? -1));
        }
      }),
    );
    await finished;
    for (const blocks of followed) {
      expect(blocks).toEqual(blocks.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    }
    expect(haveSeenAll()).toBe(true);
  });
}
