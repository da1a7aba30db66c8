/**
 * `POST /api/v1/policies`: one case for each status and code that the OpenAPI document lists for it. Each case is caused
 * by a real state of the chain, a server or the ledger, and each response is checked against the document.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { policiesOnChain } from "../support/ledger.ts";
import { failure } from "./support/api.ts";
import type { Buyer } from "./support/buyer.ts";
import { limitRefused } from "./support/limit-refusals.ts";
import { permitRefused } from "./support/permit-refusals.ts";
import { POLICIES, type PurchaseCase } from "./support/purchase-case.ts";
import { failed } from "./support/purchase-failures.ts";
import { bought, refused } from "./support/purchase-refusals.ts";
import { type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

let setup: PurchaseSetup;
let probeBuyer: Buyer;
beforeAll(async () => {
  setup = await startPurchaseSetup();
  probeBuyer = await setup.freshBuyer();
});

/** Runs a case with a new buyer, then restores everything and waits until purchases succeed again. */
async function run(row: PurchaseCase) {
  const { send, restore } = row;
  const buyer = await setup.freshBuyer();
  try {
    const answer = await send(setup, buyer);
    const policies = await policiesOnChain(setup.chain, buyer.account.address);
    return { answer, policies: policies.length };
  } finally {
    setup.apiNode.intercept();
    setup.writerNode.intercept();
    await restore?.(setup);
    if (restore || failed.includes(row)) {
      const buy = async () => (await probeBuyer.buy()).status;
      await expect.poll(buy, { interval: 300 }).toBe(201);
    }
  }
}

const named = (rows: readonly PurchaseCase[]) =>
  rows.map((row): [string, PurchaseCase] => [`${row.status} ${row.code ?? "receipt"}: ${row.name}`, row]);

describe("a purchase succeeds", () => {
  test.each(named(bought))("%s", async (_, row) => {
    const { answer, policies } = await run(row);
    expect(answer.status, answer.text).toBe(row.status);
    expect(answer.headers.get("location")).toMatch(/^\/api\/v1\/purchases\/[0-9a-f-]{36}$/);
    if (row.policies !== undefined) expect(policies).toBe(row.policies);
  });
});

describe("a purchase fails", () => {
  test.each(named([...refused, ...limitRefused, ...permitRefused, ...failed]))("%s", async (_, row) => {
    const { answer, policies } = await run(row);
    expect(failure(answer), answer.text).toEqual([row.status, row.code]);
    expect(policies).toBe(row.policies ?? 0);
    const retryAfter = answer.headers.get("retry-after");
    if (row.status === 429 || row.status === 503 || row.code === "permit_in_flight")
      expect(Number(retryAfter)).toBeGreaterThan(0);
    else expect(retryAfter).toBeNull();
  });
});

const content = z.object({ examples: z.record(z.string(), z.unknown()).optional() });
const responses = z.record(
  z.string(),
  z.object({ content: z.object({ "application/json": content }).optional() }),
);
const openApi = z.object({
  paths: z.looseObject({ [POLICIES]: z.object({ post: z.object({ responses }) }) }),
});

test("the cases cover exactly the statuses and codes that the OpenAPI document lists", async () => {
  const { paths } = openApi.parse((await setup.request("/openapi.json")).json);
  const documented = Object.entries(paths[POLICIES]?.post.responses ?? {}).flatMap(([status, { content }]) =>
    Number(status) < 300
      ? [status]
      : Object.keys(content?.["application/json"].examples ?? {}).map((code) => `${status} ${code}`),
  );
  const rows = [...bought, ...refused, ...limitRefused, ...permitRefused, ...failed].map(
    ({ status, code }) => (code === undefined ? String(status) : `${status} ${code}`),
  );
  expect([...new Set(rows)].toSorted()).toEqual(documented.toSorted());
});
