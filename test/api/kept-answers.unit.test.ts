/** Kept answers of the index: which request gets one, and which answer goes when there are too many. */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { beforeEach, expect, test } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import { integerInput } from "../../api/http/field-types.ts";
import { indexedResponses } from "../../api/indexed/documented-responses.ts";
import { createNewestHead } from "../../api/indexed/newest-head.ts";
import { createResponseCache } from "../../api/indexed/response-cache.ts";
import { createIndexedResponses } from "../../api/indexed/responses.ts";

const block = (number: number): AsOf => ({
  source: "index",
  number: BigInt(number),
  hash: `0x${String(number).padStart(64, "0")}`,
  timestamp: BigInt(number),
});

const route = createRoute({
  method: "get",
  path: "/list",
  request: {
    query: z.object({ kind: z.enum(["a", "b"]).default("a"), limit: integerInput(1, 100, 50) }),
  },
  responses: indexedResponses("A list.", z.object({ text: z.string() }), "validation_error"),
});

/** An app with one route. Each read takes the newest block at its begin, and ends once `pass` resolves. */
function createLists(maxBytes?: number) {
  const state = { newest: block(1), reads: 0, text: "rows", pass: Promise.resolve() };
  const newest = createNewestHead({ head: async () => state.newest });
  const cache = createResponseCache([], { maxBytes });
  const responses = createIndexedResponses(newest, cache);
  const list = responses.define(
    async (_: { kind: string; limit: number }) => {
      state.reads += 1;
      const { newest: asOf, text, pass } = state;
      await pass;
      return { asOf, value: text };
    },
    (text, { kind, limit }) => ({ text: `${text} ${kind} ${limit}` }),
  );
  const app = new OpenAPIHono().openapi(route, async (c) =>
    responses.send(c, await list(c.req.valid("query")), route),
  );
  const get = (query = "", headers: Record<string, string> = {}) => app.request(`/list${query}`, { headers });
  /** Mines a block, which every read sees. */
  async function mine(): Promise<void> {
    state.newest = block(Number(state.newest.number) + 1);
    newest.learn(state.newest, performance.now());
  }
  return { state, cache, get, mine };
}

/** An answer is kept from the second time on that it is asked for. */
async function twice(ask: () => unknown): Promise<void> {
  await ask();
  await ask();
}

let lists: ReturnType<typeof createLists>;
beforeEach(() => {
  lists = createLists();
});

test("addresses with the same parameters share one answer: in any order, left out, or beside unknown ones", async () => {
  const first = await lists.get("?limit=50&kind=a");
  await lists.get("?kind=a");
  for (const query of ["?kind=a&limit=50", "?limit=50", "", "?kind=a&nothing=1&limit=050", "?n=1&n=2"]) {
    const answer = await lists.get(query);
    expect(answer.headers.get("etag"), query).toBe(first.headers.get("etag"));
  }
  expect(lists.state.reads).toBe(2);
  await lists.get("?kind=b");
  await lists.get("?limit=49");
  expect(lists.state.reads).toBe(4);
});

test("any number of unknown parameters leaves the kept answers where they are", async () => {
  const { cache, get, state } = createLists(20_000);
  await twice(() => get("?kind=b"));
  for (let n = 0; n < 500; n += 1) await get(`?kind=a&n=${n}`);
  expect(state.reads).toBe(4);
  expect(cache.atAddress("/list?kind=b")?.body).toBe(JSON.stringify({ text: "rows b 50" }));
});

test("pages that are asked for once push out no answer that was asked for twice", async () => {
  const { cache, get } = createLists(10_000); // four answers
  await twice(() => get("?kind=b"));
  for (let limit = 1; limit <= 100; limit += 1) await get(`?limit=${limit}`);
  expect(cache.atAddress("/list?kind=b")).toBeDefined();
  expect(cache.atAddress("/list?limit=100")).toBeUndefined();
  await get("?limit=100");
  expect(cache.atAddress("/list?limit=100")).toBeDefined();
});

test("a late answer of an older block leaves the newer block's answer where it is", async () => {
  const { state, get, mine, cache } = lists;
  await get();
  let release = () => {};
  state.pass = new Promise((resolve) => {
    release = resolve;
  });
  const late = get();
  await expect.poll(() => state.reads).toBe(2);
  await mine();
  state.pass = Promise.resolve();
  expect((await get()).headers.get("x-indexed-block")).toBe("2");
  release();
  expect((await late).headers.get("x-indexed-block")).toBe("1");
  expect(cache.atAddress("/list")?.asOf.number).toBe(2n);
  expect((await get()).headers.get("x-indexed-block")).toBe("2");
  expect(state.reads).toBe(3);
});

test("over the size limit the answer that was used least recently goes first", async () => {
  const { get, cache } = createLists(10_000); // four of them
  const limits = [1, 2, 3, 4];
  for (const limit of limits) await twice(() => get(`?limit=${limit}`));
  const kept = () => limits.concat(5).filter((limit) => cache.atAddress(`/list?limit=${limit}`));
  expect(kept()).toEqual(limits);
  for (const limit of [2, 3, 4, 1]) cache.atAddress(`/list?limit=${limit}`);
  await twice(() => get("?limit=5"));
  expect(kept()).toEqual([1, 3, 4, 5]);
});

test("an answer that a new block leaves as it was is 304, with the new block", async () => {
  const { state, get, mine } = lists;
  const tag = (await get()).headers.get("etag") ?? "";
  await mine();
  const same = await get("", { "if-none-match": tag });
  expect([same.status, same.headers.get("x-indexed-block"), same.headers.get("etag")]).toEqual([
    304,
    "2",
    tag,
  ]);
  state.text = "other rows";
  await mine();
  const other = await get("", { "if-none-match": tag });
  expect([other.status, other.headers.get("x-indexed-block")]).toEqual([200, "3"]);
  expect(other.headers.get("etag")).not.toBe(tag);
});

test("after a block the old block's answer is not sent again", async () => {
  const { state, get, mine } = lists;
  await twice(get);
  state.text = "new rows";
  await mine();
  expect(await (await get()).json()).toEqual({ text: "new rows a 50" });
});
