/**
 * Two nodes behind one URL, one of them five blocks behind: heads, nonces and receipts go back and forth. What this
 * proves: nothing is taken for a reorganisation that loses a purchase, nothing is signed twice, nothing fails.
 */
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyPatiently } from "./support/client.ts";
import { staleEverySecondTime } from "./support/stale-node.ts";
import { expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
import { severalPurchases, startWorld, type World } from "./support/world.ts";

const BEHIND = 5;
const ROUNDS = 8;
const AT_ONCE = 4;

let world: World;
beforeAll(async () => {
  world = await startWorld({ buyers: 2, apiThroughProxy: true });
  // Even the node that is behind knows of the buyers' approvals.
  await world.chain.client.mine({ blocks: BEHIND });
});

test("purchases through a node that is now here, now there", async () => {
  const { chain, proxy, buyers, connection, stack } = world;
  proxy.intercept(staleEverySecondTime(chain.url, BEHIND));
  const bought = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const planned = severalPurchases(world, `stale-${round}`, AT_ONCE);
    const calls = planned.map(async (one) => {
      const call = () => buyers[one.buyer]?.buy({}, { "idempotency-key": one.key }) ?? Promise.reject();
      return { planned: one, told: [await buyPatiently(call, "impatient")] };
    });
    bought.push(...(await Promise.all(calls)));
    const mined = await chain.client.getBlockNumber();
    await waitFor({
      what: "the next block, so that the rounds meet the node at several heights",
      probe: async () => (await chain.client.getBlockNumber()) > mined || undefined,
      timeoutMs: 60_000,
    });
  }
  await expectOnePolicyPerKey(world, bought);
  await expectNoGaps(world);
  const forms = await connection.sql<{ forms: number; purchases: number }[]>`
    select count(*)::int as forms, count(distinct t.purchase_id)::int as purchases
    from service.attempt a join service.transaction t on t.id = a.transaction_id`;
  expect(forms).toEqual([{ forms: ROUNDS * AT_ONCE, purchases: ROUNDS * AT_ONCE }]);
  expect(stack.output("writer")).not.toMatch(/reorganised|fell out|not ours|closed a gap|lost the lease/);
  // The api needs a state that the node which is behind does not have: now and then it tells a client to come back.
  const sentAway = bought.filter(({ told }) => told.some(({ retries }) => retries > 0));
  expect(sentAway.length).toBeLessThan(bought.length / 4);
});
