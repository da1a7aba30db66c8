/**
 * `POST /api/v1/policies`: a row for each status and code that it can answer, each reached for real, by the state of the
 * chain, of a server or of the ledger. Every answer is held to the OpenAPI document, and every code that the document
 * names for it has a row.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { policiesOnChain } from "../support/ledger.ts";
import { failure } from "./support/api.ts";
import type { Buyer } from "./support/buyer.ts";
import { hindered } from "./support/purchase-hindrances.ts";
import { bought, refused } from "./support/purchase-refusals.ts";
import { PATH, type Row } from "./support/purchase-row.ts";
import { type PurchaseWorld, startPurchaseWorld } from "./support/purchase-world.ts";

let world: PurchaseWorld;
let standing: Buyer;
beforeAll(async () => {
  world = await startPurchaseWorld();
  standing = await world.freshBuyer();
});

/** Reaches a row with a new buyer, and puts everything back in order. */
async function reach(row: Row) {
  const { reach, after } = row;
  const buyer = await world.freshBuyer();
  try {
    const answer = await reach(world, buyer);
    const policies = await policiesOnChain(world.chain, buyer.account.address);
    return { answer, policies: policies.length };
  } finally {
    world.apiNode.intercept();
    world.writerNode.intercept();
    await after?.(world);
    if (after || hindered.includes(row)) {
      const sells = async () => (await standing.buy()).status;
      await expect.poll(sells, { timeout: 60_000, interval: 300 }).toBe(201);
    }
  }
}

const named = (rows: readonly Row[]) =>
  rows.map((row): [string, Row] => [`${row.status} ${row.code ?? "receipt"}: ${row.what}`, row]);

describe("bought", () => {
  test.each(named(bought))("%s", async (_, row) => {
    const { answer, policies } = await reach(row);
    expect(answer.status, answer.text).toBe(row.status);
    expect(answer.headers.get("location")).toMatch(/^\/api\/v1\/purchases\/[0-9a-f-]{36}$/);
    if (row.policies !== undefined) expect(policies).toBe(row.policies);
  });
});

describe("not bought", () => {
  test.each(named([...refused, ...hindered]))("%s", async (_, row) => {
    const { answer, policies } = await reach(row);
    expect(failure(answer), answer.text).toEqual([row.status, row.code]);
    expect(policies).toBe(row.policies ?? 0);
    const retryAfter = answer.headers.get("retry-after");
    if (row.status === 429 || row.status === 503) expect(Number(retryAfter)).toBeGreaterThan(0);
    else expect(retryAfter).toBeNull();
  });
});

const content = z.object({ examples: z.record(z.string(), z.unknown()).optional() });
const responses = z.record(
  z.string(),
  z.object({ content: z.object({ "application/json": content }).optional() }),
);
const openApi = z.object({
  paths: z.looseObject({ [PATH]: z.object({ post: z.object({ responses }) }) }),
});

test("every status and code that the document names has a row, and no other has one", async () => {
  const { paths } = openApi.parse((await world.request("/openapi.json")).json);
  const documented = Object.entries(paths[PATH]?.post.responses ?? {}).flatMap(([status, { content }]) =>
    Number(status) < 300
      ? [status]
      : Object.keys(content?.["application/json"].examples ?? {}).map((code) => `${status} ${code}`),
  );
  const rows = [...bought, ...refused, ...hindered].map(({ status, code }) =>
    code === undefined ? String(status) : `${status} ${code}`,
  );
  expect([...new Set(rows)].toSorted()).toEqual(documented.toSorted());
});
