/** The analysts' reads of cover, products, series, claims and all policies. */
import { type Hex, isHex } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { productIdOf } from "../../../lib/products.ts";
import * as act from "../../support/protocol-actions.ts";
import { invalidFields, type TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const product = productIdOf("FLASHBTC1H-001");
const integer = z.string().transform(BigInt);
const hex = z.custom<Hex>((text) => isHex(text));

async function get(api: TestApi, path: string): Promise<unknown> {
  const answer = await api.request(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
}

/** On a chain without events. */
export function analysesOfNothing(api: () => TestApi): void {
  test("before the first policy all sums are zero, quotients are null and lists are empty", async () => {
    await answersCaughtUp(api());
    expect(await get(api(), "/api/v1/stats/cover")).toMatchObject({
      active: { policies: 0, coverage: "0", payout: "0" },
      by_asset: [],
    });
    expect(await get(api(), "/api/v1/stats/products")).toMatchObject({
      total: { policies: 0, premium: "0", paid: "0", loss_ratio: null, realised_trigger_rate: null },
    });
    const series = z.object({ count: z.int(), buckets: z.array(z.object({ value: z.string() })) });
    const { count, buckets } = series.parse(await get(api(), "/api/v1/stats/series?metric=new_buyers"));
    expect([count, new Set(buckets.map(({ value }) => value))]).toEqual([30, new Set(["0"])]);
    expect(await get(api(), "/api/v1/stats/claims")).toEqual({ claims: [], count: 0, next_cursor: null });
    expect(await get(api(), "/api/v1/policies/all")).toMatchObject({ count: 0, policies: [] });
  });
}

/** After the history. */
export function analyses(api: () => TestApi): void {
  test("a claim names the first of the three observations that paid, by the shield's logs", async () => {
    const feed = z.object({
      claims: z.array(
        z.object({
          product_id: hex,
          policy_id: integer,
          block_number: integer,
          triggered_at: integer,
          first_observed_at: integer,
          seconds_from_first_observation: z.number(),
        }),
      ),
    });
    const { protocol } = api();
    const { claims } = feed.parse(await get(api(), "/api/v1/stats/claims"));
    expect(claims.length).toBeGreaterThan(1);
    for (const claim of claims) {
      const { shield } = await act.coverOf(protocol, { productId: claim.product_id }, claim.policy_id);
      const observed = await protocol.client.getContractEvents({
        ...{ abi: flashShieldAbi, address: shield, eventName: "ConfirmationObserved", strict: true },
        ...{ args: { policyId: claim.policy_id }, fromBlock: 0n, toBlock: claim.block_number },
      });
      const [first, ...others] = observed.slice(-3);
      expect([first, ...others].map((log) => log?.args.count)).toEqual([1, 2, 3]);
      const { timestamp } = await protocol.client.getBlock({ blockNumber: first?.blockNumber ?? 0n });
      expect(claim.first_observed_at).toBe(timestamp);
      expect(claim.seconds_from_first_observation).toBe(Number(claim.triggered_at - timestamp));
    }
  });

  test.each([
    ["/api/v1/stats/series", "metric"],
    ["/api/v1/stats/series?metric=profit", "metric"],
    ["/api/v1/stats/series?metric=cover&interval=hour", "interval"],
    ["/api/v1/stats/series?metric=cover&from=5&to=5", "to"],
    ["/api/v1/stats/series?metric=cover&from=0", "from"],
    ["/api/v1/stats/series?metric=cover&from=0&interval=week", "from"],
    ["/api/v1/stats/series?metric=cover&product=0x12", "product"],
    ...["burns", "bond_sales", "new_buyers", "returning_buyers"].map((metric): [string, string] => [
      `/api/v1/stats/series?metric=${metric}&product=${product}`,
      "product",
    ]),
    ["/api/v1/stats/products?from=9&to=9", "to"],
    ["/api/v1/stats/claims?product=1", "product"],
    ["/api/v1/stats/claims?buyer=0x1", "buyer"],
    ["/api/v1/stats/claims?from=9&to=8", "to"],
    ["/api/v1/policies/all?status=active", "status"],
    ["/api/v1/policies/all?asset=BTC", "asset"],
    ["/api/v1/policies/all?from=9&to=8", "to"],
    ["/api/v1/policies/all?expiresFrom=9&expiresTo=9", "expiresTo"],
    ["/api/v1/policies/all?expiresFrom=tomorrow", "expiresFrom"],
    ["/api/v1/policies/all?cursor=1-1&offset=1", "offset"],
    ["/api/v1/stats/burns?from=9&to=8", "to"],
    // Milliseconds.
    ["/api/v1/stats/burns?from=1767225600000", "from"],
    ["/api/v1/stats/series?metric=cover&to=1767225600000", "to"],
    ["/api/v1/policies/all?expiresTo=1767225600000", "expiresTo"],
    ["/api/v1/stats/activity?since=100000000000", "since"],
  ])("GET %s gets 400, which names %s", async (path, field) => {
    const answer = await api().request(path);
    expect(answer.status, answer.text).toBe(400);
    expect(invalidFields(answer)).toEqual([field]);
  });

  test("a series with every bound the query allows is answered: before the first block, in the future, of one second", async () => {
    const length = async (query: string) =>
      z.object({ count: z.int() }).parse(await get(api(), `/api/v1/stats/series?metric=new_buyers&${query}`))
        .count;
    expect(await length("to=0")).toBe(0);
    expect(await length("to=1")).toBe(1);
    expect(await length("to=1&interval=week")).toBe(1);
    expect(await length("from=1000&to=2000&interval=month")).toBe(1);
    for (const interval of ["day", "week", "month"])
      expect(await length(`from=99999999998&to=99999999999&interval=${interval}`)).toBe(0);
    expect(await length("to=99999999999")).toBe(30);
    const { timestamp } = await api().chain.client.getBlock();
    const day = timestamp - (timestamp % 86_400n);
    expect(await length(`from=${day - 365n * 86_400n}`)).toBe(366);
    for (const query of ["", "&interval=week", `&to=${day - 9n * 86_400n}`]) {
      const refused = await api().request(`/api/v1/stats/series?metric=cover&from=0${query}`);
      const [, earliest = ""] =
        /from must be (\d+) or later: a series has at most 366 buckets/.exec(refused.text) ?? [];
      expect(await length(`from=${earliest}${query}`), refused.text).toBe(366);
      expect(
        (await api().request(`/api/v1/stats/series?metric=cover&from=${BigInt(earliest) - 1n}${query}`))
          .status,
      ).toBe(400);
    }
    expect(await length(`from=${day - 86_400n}&to=${day}`)).toBe(1);
  });
}
