/** The cache of the index's answers: which request gets one, and which answer goes when there are too many. */
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { beforeEach, expect, test } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import { integerInput } from "../../api/http/field-types.ts";
import { indexedResponses } from "../../api/indexed/documented-responses.ts";
import { createNewestHead } from "../../api/indexed/newest-head.ts";
import { cacheResponses } from "../../api/indexed/response-cache.ts";
import { createIndexedResponses, type IndexedEnv } from "../../api/indexed/responses.ts";

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
function createLists(maxSize?: number) {
  const state = { newest: block(1), reads: 0, text: "rows", pass: Promise.resolve(), exceeded: false };
  const newest = createNewestHead({ head: async () => state.newest });
  const responses = createIndexedResponses(newest);
  const list = responses.define(
    async (_: { kind: string; limit: number }) => {
      state.reads += 1;
      const { newest: asOf, text, pass } = state;
      await pass;
      return { asOf, value: text };
    },
    (text, { kind, limit }) => ({ text: `${text} ${kind} ${limit}` }),
  );
  const app = new OpenAPIHono<IndexedEnv>();
  const count = async () => ({
    name: "reads",
    limit: 9,
    remaining: 8,
    resetSeconds: 1,
    exceeded: state.exceeded,
  });
  app.use(cacheResponses({ newest, count, onAnswer: () => {}, maxSize }));
  app.openapi(route, async (c) => responses.send(c, await list(c.req.valid("query")), route));
  const request = (query: string, init: RequestInit) => app.request(`/list${query}`, init);
  const get = (query = "", headers: Record<string, string> = {}) => request(query, { headers });
  /** Mines a block, which every read sees. */
  async function mine(): Promise<void> {
    state.newest = block(Number(state.newest.number) + 1);
    newest.learn(state.newest, performance.now());
  }
  return { state, request, get, mine };
}

let lists: ReturnType<typeof createLists>;
beforeEach(() => {
  lists = createLists();
});

test("an address that was asked for at this block is answered from the cache, other parameters are read", async () => {
  const { get, state } = lists;
  const first = await get("?kind=a");
  const again = await get("?kind=a");
  expect([again.headers.get("etag"), state.reads]).toEqual([first.headers.get("etag"), 1]);
  for (const [query, reads] of [
    ["?kind=b", 2],
    ["?kind=a&limit=49", 3],
    ["?kind=b", 3],
  ] as const) {
    await get(query);
    expect(state.reads, query).toBe(reads);
  }
});

test("simultaneous requests with the same parameters share one read, however they spell them", async () => {
  const { get, state } = lists;
  const answers = await Promise.all(["?kind=a", "", "?limit=050&kind=a", "?n=1"].map((query) => get(query)));
  expect(new Set(answers.map(({ headers }) => headers.get("etag"))).size).toBe(1);
  expect(state.reads).toBe(1);
});

test("a late answer of an older block leaves the newer block's answer where it is", async () => {
  const { state, get, mine } = lists;
  let release = () => {};
  state.pass = new Promise((resolve) => {
    release = resolve;
  });
  const late = get();
  await expect.poll(() => state.reads).toBe(1);
  await mine();
  state.pass = Promise.resolve();
  expect((await get()).headers.get("x-indexed-block")).toBe("2");
  release();
  expect((await late).headers.get("x-indexed-block")).toBe("1");
  expect((await get()).headers.get("x-indexed-block")).toBe("2");
  expect(state.reads).toBe(2);
});

test("over the size limit the answer that was used least recently goes first", async () => {
  const { get, state } = createLists(10_000); // four of them
  const readsOf = async (limit: number) => {
    const before = state.reads;
    await get(`?limit=${limit}`);
    return state.reads - before;
  };
  for (const limit of [1, 2, 3, 4]) expect(await readsOf(limit)).toBe(1);
  for (const limit of [2, 3, 4, 1]) expect(await readsOf(limit)).toBe(0);
  expect(await readsOf(5)).toBe(1);
  for (const limit of [1, 3, 4, 5]) expect(await readsOf(limit)).toBe(0);
  expect(await readsOf(2)).toBe(1);
});

test("other methods than GET and HEAD of a kept address reach their routes", async () => {
  const { get, request } = lists;
  await get();
  const [head, post] = [await request("", { method: "HEAD" }), await request("", { method: "POST" })];
  expect([head.status, head.headers.get("x-indexed-block"), await head.text()]).toEqual([200, "1", ""]);
  expect(post.status).toBe(404);
});

test("a request above the limit, or with a key, is left to the middleware behind the cache", async () => {
  const { get, state } = lists;
  await get();
  await get("", { "x-api-key": "lk_1" });
  await get("", { authorization: "Bearer lk_1" });
  expect(state.reads).toBe(3);
  await get("", { authorization: "Basic dXNlcjpwYXNz" });
  expect(state.reads).toBe(3);
  state.exceeded = true;
  await get();
  expect(state.reads).toBe(4);
});

test("an answer from the cache names the request, by the client's id if it has one", async () => {
  const { get } = lists;
  await get();
  const idOf = async (headers: Record<string, string>) =>
    (await get("", headers)).headers.get("x-request-id");
  expect(await idOf({})).toMatch(/^[0-9a-f-]{36}$/);
  expect(await idOf({ "x-request-id": "mine" })).toBe("mine");
  expect(await idOf({ "x-request-id": "not valid" })).toMatch(/^[0-9a-f-]{36}$/);
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
  await get();
  state.text = "new rows";
  await mine();
  expect(await (await get()).json()).toEqual({ text: "new rows a 50" });
});
