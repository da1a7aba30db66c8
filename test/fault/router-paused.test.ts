/**
 * The owner pauses the router while three purchases of one buyer are in flight. What this proves: they revert, and that is not
 * the buyer's fault: the buyer is not paused, and each key buys once the revert is final and the pause is over.
 */
import { expect, test } from "vitest";
import { setRouterPaused } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { startPurchaseSetup } from "./support/purchase-setup.ts";

const settled = { interval: 300 };
const COUNT = 3;

test("purchases that the router's pause reverts are bought by the same keys after it", async () => {
  const setup = await startPurchaseSetup({ env: { api: { PURCHASE_WAIT_MS: "2000" } } });
  const { chain, protocol, proxy, buyers } = setup;
  const [buyer] = buyers;
  if (!buyer) throw new Error("no buyer");
  const keys = Array.from({ length: COUNT }, (_, n) => ({ "idempotency-key": `paused-${n}` }));
  const buyAll = () => Promise.all(keys.map((key) => buyer.buy({}, key)));

  // Signed and sent, and the node has none of them before the pause.
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  expect((await buyAll()).map(failure)).toEqual(keys.map(() => [503, "purchase_pending"]));
  await waitFor({
    what: "the signatures of three purchases",
    probe: async () =>
      (await setup.connection.sql`select distinct transaction_id from service.attempt`).length === COUNT ||
      undefined,
  });
  await setRouterPaused(protocol, chain.owner, true);
  await mineNothing(chain);
  proxy.intercept();
  await waitFor({
    what: "three transactions in the node's pool",
    probe: async () => (await chain.client.getTxpoolStatus()).pending === COUNT || undefined,
  });
  await chain.client.mine({ blocks: 1 });

  // Until the revert is final, a reorganisation may still make it a purchase.
  await waitFor({
    what: "three reverts in the ledger",
    probe: async () =>
      (await setup.connection.sql`select 1 from service.transaction where state = 'mined'`).length ===
        COUNT || undefined,
  });
  expect((await buyAll()).map(failure)).toEqual(keys.map(() => [503, "purchase_pending"]));
  await chain.client.mine({ blocks: 5 });
  await expect
    .poll(async () => (await buyAll()).map(failure), settled)
    .toEqual(keys.map(() => [503, "contract_paused"]));
  expect(await policiesOnChain(chain, buyer.account.address)).toEqual([]);

  await mineEverySecond(chain);
  await setRouterPaused(protocol, chain.owner, false);
  await expect
    .poll(async () => (await buyAll()).map(({ status }) => status), settled)
    .toEqual(keys.map(() => 200));
  expect(await policiesOnChain(chain, buyer.account.address)).toHaveLength(COUNT);
});
