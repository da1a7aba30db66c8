/** The analysts' reads of cover, products, series, claims and all policies. */
import { expect, test } from "vitest";
import { z } from "zod";
import { productIdOf } from "../../../lib/products.ts";
import { rounds } from "../../src/support/oracle-views.ts";
import { invalidFields, type TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const product = productIdOf("FLASHBTC1H-001");

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
  test("a claim's condition was met by the third round at or below its trigger price in its window", async () => {
    const feed = z.object({
      claims: z.array(
        z.object({
          asset: z.string(),
          trigger_price: z.string(),
          bought_at: z.string(),
          proven_at: z.string(),
          triggered_at: z.string(),
        }),
      ),
    });
    const { claims } = feed.parse(await get(api(), "/api/v1/stats/claims"));
    expect(claims.length).toBeGreaterThan(1);
    const all = await rounds(api().chain.client, api().chain.deployment);
    for (const claim of claims) {
      const third = all
        .filter(
          (round) =>
            round.asset === claim.asset &&
            BigInt(String(round.answer)) * 10n ** 10n <= BigInt(claim.trigger_price) &&
            Number(round.updated_at) >= Number(claim.bought_at),
        )
        .sort(
          (a, b) =>
            Number(a.block_number) - Number(b.block_number) || Number(a.log_index) - Number(b.log_index),
        )
        .at(2);
      const { timestamp } = await api().chain.client.getBlock({
        blockNumber: BigInt(String(third?.block_number)),
      });
      expect(claim.proven_at).toBe(String(timestamp));
      expect(Number(claim.triggered_at)).toBeGreaterThanOrEqual(Number(claim.proven_at));
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
