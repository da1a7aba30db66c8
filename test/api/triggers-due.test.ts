/**
 * What these prove: at every block of random prices, purchases, observations, pauses, outages and reorganisations the list of due
 * policies has exactly those that the contracts would observe, and the evaluation of each policy agrees. `DUE_SEED` repeats an
 * earlier run.
 */
import { beforeAll, expect, test } from "vitest";
import type { DuePolicy } from "../../lib/indexed/due.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { allPolicies } from "../src/support/due-by-force.ts";
import { type PriceWalk, startPriceWalk } from "../src/support/price-walk.ts";
import { startChain } from "../support/chain.ts";
import { checkedRequests } from "../support/openapi.ts";
import * as act from "../support/protocol-actions.ts";
import { startStack } from "../support/stack.ts";
import { failure, invalidFields, type TestApi } from "./support/api.ts";
import { caughtUp, duePageOf, evaluate, expectDue, listDue } from "./support/triggers.ts";

const seed = Number(process.env.DUE_SEED || Math.floor(Math.random() * 2 ** 31));
const BLOCKS = 12;
/** After every so many blocks the newest ones are replaced. */
const REORGANISE_EVERY = 6;

let api: Pick<TestApi, "chain" | "stack" | "request">;
let walk: PriceWalk;
beforeAll(async () => {
  console.log(`DUE_SEED=${seed}`);
  const chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  walk = await startPriceWalk(chain, seed);
  const stack = await startStack({ chain, services: ["api", "indexer"] });
  api = { chain, stack, request: await checkedRequests(stack.apiUrl) };
});

/** The due policies, as the walk observes them. */
const dueNow = async (): Promise<DuePolicy[]> =>
  (await expectDue(api)).map(({ productId, policyId, expiresAt, observation, observeUntil }) => ({
    ...{ productId, policyId, expiresAt, observation, lastMoment: observeUntil },
    ...{ shield: null, buyer: api.chain.owner.address, changedIn: null },
  }));

test(`both reads agree with the contracts at every block (DUE_SEED=${seed})`, async () => {
  let due = await dueNow();
  for (let block = 1; block <= BLOCKS; block++) {
    await walk.step(due);
    due = await dueNow();
    if (block % REORGANISE_EVERY > 0) continue;
    await walk.reorganise(1 + walk.random(6));
    due = await dueNow();
  }
});

test("due policies come in pages by their last moment, each policy once", async () => {
  const { mine, push, purchase, calm, protocol } = walk;
  await calm();
  await mine([push("BTC", 60_000_00000000n), push("ETH", 3_000_00000000n)]);
  // Three policies of one product in one block have the same last moment.
  const names = ["FLASHBTC48-001", "FLASHBTC1H-001", "FLASHBTC1H-001", "FLASHBTC1H-001", "FLASHETH1H-001"];
  await mine(names.map((name) => purchase(name)));
  await act.nextBlockAt(protocol, (await act.chainTime(protocol)) + 300n);
  await mine([push("BTC", 50_000_00000000n), push("ETH", 2_000_00000000n)]);
  const all = await expectDue(api);
  expect(all.length).toBeGreaterThanOrEqual(names.length);
  const order = all.map(
    ({ observeUntil, productId, policyId }) => [observeUntil, productId, policyId] as const,
  );
  expect(order).toEqual(
    order.toSorted(
      ([a, product, id], [b, otherProduct, otherId]) =>
        Number(a - b) || (product < otherProduct ? -1 : product > otherProduct ? 1 : Number(id - otherId)),
    ),
  );
  for (const limit of [1, 2]) expect(await listDue(api, limit)).toEqual(all);
  const pages = await Promise.all(all.map((_, offset) => duePageOf(api, `limit=1&offset=${offset}`)));
  expect(pages.flatMap(({ policies }) => policies)).toEqual(all);
});

test("rounds come in pages, each round once, the newest first", async () => {
  const { mine, push } = walk;
  for (let n = 0; n < 6; n += 1) await mine([push("BTC", 51_000_00000000n)]);
  await caughtUp(api);
  const btc48 = termsOf("FLASHBTC48-001").productId;
  const policy = (await allPolicies(api.chain)).filter(({ productId }) => productId === btc48).at(-1);
  if (!policy) throw new Error("there is no policy");
  const all = await evaluate(api, policy, "?limit=100");
  expect([all.nextCursor, all.count > 5]).toEqual([null, true]);
  const times = all.rounds.map(({ updatedAt }) => updatedAt);
  expect(times).toEqual(times.toSorted((a, b) => Number(b - a)));
  const seen: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await evaluate(api, policy, `?limit=3${cursor ? `&cursor=${cursor}` : ""}`);
    const { rounds, count, nextCursor } = page;
    expect(page).toEqual({ ...all, rounds, count, nextCursor, limit: 3 });
    seen.push(...rounds);
    cursor = nextCursor;
  }
  expect(seen).toEqual(all.rounds);
});

test("an unknown policy is 404, and a bad parameter 400 with its name", async () => {
  await caughtUp(api);
  const known = termsOf("FLASHBTC1H-001").productId;
  const path = (id: string | bigint, product = known) => `/api/v1/triggers/${product}/${id}`;
  for (const unknown of [path(999n), path(1n, `0x${"a".repeat(64)}`), path(2n ** 256n - 1n)])
    expect(failure(await api.request(unknown)), unknown).toEqual([404, "policy_not_found"]);
  for (const [bad, field] of [
    [path("x"), "policyId"],
    [path(2n ** 256n), "policyId"],
    [path(1n, "0x12"), "productId"],
    [`${path(1n)}?limit=0`, "limit"],
    [`${path(1n)}?limit=101`, "limit"],
    [`${path(1n)}?cursor=5`, "cursor"],
    ["/api/v1/triggers/due?limit=101", "limit"],
    ["/api/v1/triggers/due?cursor=5-1", "cursor"],
    [`/api/v1/triggers/due?offset=1&cursor=5-0x${"a".repeat(64)}-1`, "offset"],
  ] as const) {
    const answer = await api.request(bad);
    expect(failure(answer), bad).toEqual([400, "validation_error"]);
    expect(invalidFields(answer), bad).toEqual([field]);
  }
});
