/**
 * Two nodes behind one URL, one of them five blocks behind: heads, nonces and receipts jump back and forth. What this
 * proves: the writer does not take this for a reorganisation, gives no purchase a second nonce, and loses none.
 */
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { expectNoNonceGaps, expectOneNonceEach, expectOnePolicyPerKey } from "./support/assertions.ts";
import { buyAll, type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";
import { alternateWithStaleNode } from "./support/stale-node.ts";

const BEHIND = 5;
const ROUNDS = 5;
const AT_ONCE = 4;

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 2, apiThroughProxy: true });
  // Now the stale node knows the buyers' approvals too.
  await setup.chain.client.mine({ blocks: BEHIND });
});

test("every second request reaches a stale node: each key buys one policy, under one nonce", async () => {
  const { chain, proxy, buyers, connection, stack } = setup;
  proxy.intercept(alternateWithStaleNode(chain.url, BEHIND));
  const purchases = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    purchases.push(...(await buyAll(setup, `stale-${round}`, AT_ONCE)));
    const mined = await chain.client.getBlockNumber();
    await waitFor({
      what: "the next block, so that the rounds meet the node at several heights",
      probe: async () => (await chain.client.getBlockNumber()) > mined || undefined,
    });
  }
  await expectOnePolicyPerKey(setup, purchases);
  await expectNoNonceGaps(setup);
  const policies = await Promise.all(buyers.map(({ account }) => policiesOnChain(chain, account.address)));
  const ids = purchases.flatMap(({ answers }) => answers.map(({ receipt }) => receipt.purchaseId));
  await expectOneNonceEach(connection, ids, policies.flat());
  expect(stack.output("writer")).not.toMatch(
    /reorganised|fell out|not ours|filled a nonce gap|lost the lease/,
  );
  // The api answers 503 when it needs a state that the stale node does not have: some clients retry.
  const retried = purchases.filter(({ answers }) => answers.some(({ retries }) => retries > 0));
  expect(retried.length).toBeLessThanOrEqual(purchases.length / 2);
});
