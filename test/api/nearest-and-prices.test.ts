/**
 * What this proves: the active policies come nearest to their trigger first, whatever was bought last; an asset's price history
 * is its feed's rounds; what the keeper's audit has counted is told to everybody; and a list's policies are those that are read alone.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { assetBytes32 } from "../../lib/products.ts";
import { purchase, pushPrice } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { fundSeedAccounts, seedAccounts, usdc } from "../../scripts/local/seed/accounts.ts";
import { rounds } from "../src/support/oracle-views.ts";
import { invalidFields, startApi, type TestApi } from "./support/api.ts";
import { answersCaughtUp } from "./support/caught-up.ts";
import { writeKeeperAudit } from "./support/keeper-audit.ts";
import { policyEntries } from "./support/policy-entries.ts";

const { alice, bob, owner } = seedAccounts;
const [btc, eth] = [assetBytes32("BTC"), assetBytes32("ETH")];
const FEED_TO_PRICE = 10n ** 10n;

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  await answersCaughtUp(api);
});

const get = async (path: string): Promise<unknown> => {
  const answer = await api.request(path);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

const policy = z.looseObject({
  productId: z.string(),
  policyId: z.string(),
  expiresAt: z.string().transform(BigInt),
  triggerPrice: z.string().transform(BigInt),
  currentPrice: z.string().transform(BigInt),
});
type Policy = z.output<typeof policy>;
const nearestShape = z.object({ count: z.int(), total: z.int(), policies: z.array(policy) });
const nearest = async (query = "") => nearestShape.parse(await get(`/api/v1/policies/nearest?${query}`));

/** The part of the price that is left at the trigger, with 30 digits: the larger it is, the nearer the trigger. */
const partAtTrigger = ({ triggerPrice, currentPrice }: Policy) => (triggerPrice * 10n ** 30n) / currentPrice;
const key = ({ productId, policyId }: Policy) => `${productId} ${policyId}`;

function nearerFirst(a: Policy, b: Policy): number {
  const [x, y] = [partAtTrigger(a), partAtTrigger(b)];
  if (x !== y) return x > y ? -1 : 1;
  if (a.expiresAt !== b.expiresAt) return a.expiresAt < b.expiresAt ? -1 : 1;
  return key(a) < key(b) ? -1 : 1;
}

/** Active policies by the search, in the order that is promised. */
async function expected(filter = ""): Promise<Policy[]> {
  const found = z
    .object({ policies: z.array(policy), nextCursor: z.null() })
    .parse(await get(`/api/v1/policies/all?status=Active&limit=100${filter}`));
  return found.policies.toSorted(nearerFirst);
}

test("before the first policy none is near, and no audit has begun", async () => {
  expect(await get("/api/v1/policies/nearest")).toMatchObject({ count: 0, total: 0, policies: [] });
  expect(await get("/api/v1/stats/keeper")).toEqual({ audited_to: null, results: [] });
});

test("an old policy that is near comes before newer ones that are far, and prices change the order", async () => {
  const { protocol } = api;
  await fundSeedAccounts(protocol);
  await pushPrice(protocol, owner, "BTC", 60_000_00000000n);
  await pushPrice(protocol, owner, "ETH", 3_000_00000000n);
  await purchase(protocol, alice, termsOf("FLASHBTC48-001"), usdc(500));
  await purchase(protocol, alice, termsOf("FLASHETH24-001"), usdc(500));
  await pushPrice(protocol, owner, "BTC", 59_300_00000000n);
  await purchase(protocol, bob, termsOf("FLASHBTC24-001"), usdc(500));
  await purchase(protocol, bob, termsOf("FLASHBTC24-001"), usdc(700));
  await purchase(protocol, bob, termsOf("FLASHETH1H-001"), usdc(500));
  await answersCaughtUp(api);
  const before = await nearest();
  expect(before.policies).toEqual(await expected());
  expect([before.count, before.total]).toEqual([5, 5]);
  await pushPrice(protocol, owner, "ETH", 2_900_00000000n);
  await answersCaughtUp(api);
  const after = await nearest();
  expect(after.policies).toEqual(await expected());
  expect(after.policies.map(key)).not.toEqual(before.policies.map(key));
});

test("filters and pages keep the order, and count what they leave out", async () => {
  const all = await expected();
  const btcOnly = await nearest(`asset=${btc}`);
  expect(btcOnly.policies).toEqual(await expected(`&asset=${btc}`));
  const { productId } = termsOf("FLASHBTC24-001");
  const ofProduct = await nearest(`product=${productId}`);
  expect(ofProduct.policies).toEqual(await expected(`&product=${productId}`));
  expect(ofProduct.total).toBe(2);
  const pages = await Promise.all(all.map((_, offset) => nearest(`limit=1&offset=${offset}`)));
  expect(pages.flatMap(({ policies }) => policies)).toEqual(all);
  expect(pages.map(({ count, total }) => [count, total])).toEqual(all.map(() => [1, all.length]));
  expect(await nearest(`asset=${eth}&product=${productId}`)).toMatchObject({ count: 0, total: 0 });
});

const history = z.object({
  from: z.string().transform(BigInt),
  to: z.string().transform(BigInt),
  step_seconds: z.int().transform(BigInt),
  count: z.int(),
  points: z.array(z.unknown()),
});
const roundRow = z.object({
  asset: z.string(),
  answer: z.string().transform(BigInt),
  updated_at: z.string().transform(BigInt),
  round_id: z.string().transform(BigInt),
});

test.each(["1h", "24h", "7d", "30d"])(
  "the price history of %s is the feed's rounds, step by step",
  async (range) => {
    const all = z.array(roundRow).parse(await rounds(api.chain.client, api.chain.deployment));
    for (const asset of [btc, eth]) {
      const { from, to, step_seconds, count, points } = history.parse(
        await get(`/api/v1/stats/price-history?asset=${asset}&range=${range}`),
      );
      const { timestamp } = await api.chain.client.getBlock();
      expect(to > timestamp && to - step_seconds <= timestamp).toBe(true);
      const ofAsset = all
        .filter((round) => round.asset === asset)
        .sort((a, b) => Number(a.updated_at - b.updated_at) || Number(a.round_id - b.round_id));
      const steps = new Map<bigint, typeof ofAsset>();
      for (const round of ofAsset) {
        // Before the range only the newest round counts.
        if (round.updated_at < from) steps.set(-1n, [round]);
        else {
          const step = (round.updated_at - from) / step_seconds;
          steps.set(step, [...(steps.get(step) ?? []), round]);
        }
      }
      const inOrder = [...steps].sort(([a], [b]) => Number(a - b)).map(([, step]) => step);
      const price = (answer: bigint) => String(answer * FEED_TO_PRICE);
      expect(points).toEqual(
        inOrder.map((step) => {
          const answers = step.map(({ answer }) => answer).sort((a, b) => Number(a - b));
          const newest = step.at(-1);
          return {
            timestamp: String(newest?.updated_at),
            price: price(newest?.answer ?? 0n),
            lowest: price(answers[0] ?? 0n),
            highest: price(answers.at(-1) ?? 0n),
            rounds: step.length,
          };
        }),
      );
      expect(count).toBe(points.length);
      expect(count).toBeGreaterThan(0);
    }
  },
);

test("an asset that nobody covers has no prices", async () => {
  const path = `/api/v1/stats/price-history?asset=${assetBytes32("NONE")}`;
  expect(await get(path)).toMatchObject({ count: 0, points: [] });
});

test.each([
  ["/api/v1/policies/nearest?asset=BTC", "asset"],
  ["/api/v1/policies/nearest?product=1", "product"],
  ["/api/v1/policies/nearest?limit=101", "limit"],
  ["/api/v1/policies/nearest?offset=-1", "offset"],
  ["/api/v1/stats/price-history", "asset"],
  [`/api/v1/stats/price-history?asset=${btc}&range=2d`, "range"],
])("%s names the field that is wrong", async (path, field) => {
  const answer = await api.request(path);
  expect([answer.status, invalidFields(answer)]).toEqual([400, [field]]);
});

test("the keeper's audit is told as its counts are", async () => {
  await writeKeeperAudit(api);
  const results = z.array(z.object({ result: z.string(), reason: z.string().nullable(), policies: z.int() }));
  const audit = z.object({ audited_to: z.string(), results }).parse(await get("/api/v1/stats/keeper"));
  expect(audit.audited_to).toBe("1234");
  expect(audit.results.filter(({ policies }) => policies > 0)).toEqual([
    { result: "missed", reason: null, policies: 1 },
    { result: "missed_while_down", reason: null, policies: 2 },
    { result: "never_payable", reason: "capacity", policies: 3 },
    { result: "never_payable", reason: "no_way", policies: 1 },
  ]);
});

describe("the entries of a list", () => policyEntries(() => api));
