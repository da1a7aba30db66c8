/**
 * A relayer's wallet runs out of ether and is refilled. What this proves: another wallet buys instead; without one,
 * purchases wait or are answered 503; none is lost or bought twice.
 */
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import { expectNoFalseFailures, expectNoNonceGaps, expectOnePolicyPerKey } from "./support/assertions.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import { type PurchaseSetup, planPurchases, relayers, startPurchaseSetup } from "./support/purchase-setup.ts";
import { waitForBalanceCacheToExpire } from "./support/waits.ts";

const FULL = 10n ** 21n;

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 2, env: { api: { PURCHASE_WAIT_MS: "4000" } } });
});

const setBalance = (address: Address, value: bigint) => setup.chain.client.setBalance({ address, value });
const nonceOf = (address: Address) => setup.chain.client.getTransactionCount({ address });

const call = (planned: { buyer: number; key: string }) => async () => {
  const buyer = setup.buyers[planned.buyer];
  if (!buyer) throw new Error("no buyer");
  return buyer.buy({}, { "idempotency-key": planned.key });
};

/** The wallets and nonces of purchases that were signed. */
function signed(plans: readonly { key: string }[]) {
  const keys = plans.map(({ key }) => key);
  return setup.connection.sql<{ nonce: string; wallet: string }[]>`
    select t.wallet, t.nonce from service.transaction t join service.purchase_progress p on p.id = t.intent
    where p.idempotency_key = any(${keys}::text[]) order by 1, 2`;
}

async function expectBought(plans: readonly { buyer: number; key: string }[], fromBlock: bigint) {
  const purchases = await Promise.all(
    plans.map(async (planned) => ({ planned, answers: [await buyWithRetries(call(planned), "impatient")] })),
  );
  await expectOnePolicyPerKey(setup, purchases, fromBlock);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
}

test("one of two wallets is empty: the other one buys", async () => {
  const fromBlock = (await setup.chain.client.getBlockNumber()) + 1n;
  const [empty, full] = relayers;
  await setBalance(empty.address, 0n);
  await waitForBalanceCacheToExpire(setup.connection.sql);
  const before = [await nonceOf(empty.address), await nonceOf(full.address)];
  await expectBought(planPurchases(setup, "one", 8), fromBlock);
  expect([await nonceOf(empty.address), await nonceOf(full.address)]).toEqual([
    before[0],
    (before[1] ?? 0) + 8,
  ]);
  await setBalance(empty.address, FULL);
});

test("both wallets are empty: clients get 503 with Retry-After, and their policies once there is ether", async () => {
  const fromBlock = (await setup.chain.client.getBlockNumber()) + 1n;
  for (const { address } of relayers) await setBalance(address, 0n);
  await waitForBalanceCacheToExpire(setup.connection.sql);
  const plans = planPurchases(setup, "both", 6);
  for (const answer of await Promise.all(plans.map((planned) => call(planned)()))) {
    const [status, code] = failure(answer);
    expect(status, code).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect(await signed(plans)).toEqual([]);
  for (const { address } of relayers) await setBalance(address, FULL);
  await expectBought(plans, fromBlock);
});

test("both wallets run out of ether after signing: the same transactions are mined once there is ether", async () => {
  const { chain, proxy } = setup;
  const fromBlock = (await chain.client.getBlockNumber()) + 1n;
  // Every broadcast waits until the wallets are empty: otherwise an early one would be mined.
  let drained: Promise<unknown> | undefined;
  proxy.intercept(async (rpc, forward) => {
    if (rpc.method === "eth_sendRawTransaction") {
      drained ??= Promise.all(relayers.map(({ address }) => setBalance(address, 0n)));
      await drained;
    }
    return forward();
  });
  const plans = planPurchases(setup, "dry", 4);
  await Promise.all(plans.map((planned) => call(planned)().then(({ status }) => expect(status).toBe(503))));
  const before = await waitFor({
    what: "a signature",
    probe: async () => {
      const found = await signed(plans);
      return found.length > 0 ? found : undefined;
    },
  });
  proxy.intercept();
  for (const { address } of relayers) await setBalance(address, FULL);
  await expectBought(plans, fromBlock);
  expect(await signed(plans)).toEqual(expect.arrayContaining(before));
});
