/**
 * A relayer's wallet runs out of ether and is filled again. What this proves: another wallet goes on, without one
 * purchases wait or are told to come back, and none is lost or bought twice.
 */
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import { buyPatiently } from "./support/client.ts";
import { waitForBalanceCacheToExpire } from "./support/rounds.ts";
import { expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
import { relayers, severalPurchases, startWorld, type World } from "./support/world.ts";

const FULL = 10n ** 21n;

let world: World;
beforeAll(async () => {
  world = await startWorld({ buyers: 2, env: { api: { PURCHASE_WAIT_MS: "4000" } } });
});

const setBalance = (address: Address, value: bigint) => world.chain.client.setBalance({ address, value });
const nonceOf = (address: Address) => world.chain.client.getTransactionCount({ address });

const call = (planned: { buyer: number; key: string }) => async () => {
  const buyer = world.buyers[planned.buyer];
  if (!buyer) throw new Error("no buyer");
  return buyer.buy({}, { "idempotency-key": planned.key });
};

async function expectBought(plans: readonly { buyer: number; key: string }[], fromBlock: bigint) {
  const bought = await Promise.all(
    plans.map(async (planned) => ({ planned, told: [await buyPatiently(call(planned), "impatient")] })),
  );
  await expectOnePolicyPerKey(world, bought, fromBlock);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
}

test("one of two is empty: the other one buys", async () => {
  const fromBlock = (await world.chain.client.getBlockNumber()) + 1n;
  const [empty, full] = relayers;
  await setBalance(empty.address, 0n);
  await waitForBalanceCacheToExpire(world.connection.sql);
  const before = [await nonceOf(empty.address), await nonceOf(full.address)];
  await expectBought(severalPurchases(world, "one", 8), fromBlock);
  expect([await nonceOf(empty.address), await nonceOf(full.address)]).toEqual([
    before[0],
    (before[1] ?? 0) + 8,
  ]);
  await setBalance(empty.address, FULL);
});

test("both are empty: clients are told to come back, and get their policies once there is ether", async () => {
  const fromBlock = (await world.chain.client.getBlockNumber()) + 1n;
  for (const { address } of relayers) await setBalance(address, 0n);
  await waitForBalanceCacheToExpire(world.connection.sql);
  const plans = severalPurchases(world, "both", 6);
  for (const answer of await Promise.all(plans.map((planned) => call(planned)()))) {
    const [status, code] = failure(answer);
    expect(status, code).toBe(503);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  for (const { address } of relayers) await setBalance(address, FULL);
  await expectBought(plans, fromBlock);
});

test("they run dry over transactions that are signed: the same bytes are mined once there is ether", async () => {
  const { chain, proxy, connection } = world;
  const fromBlock = (await chain.client.getBlockNumber()) + 1n;
  // Every sending waits for the draining, or one that overtakes it is mined.
  let drained: Promise<unknown> | undefined;
  proxy.intercept(async (rpc, forward) => {
    if (rpc.method === "eth_sendRawTransaction") {
      drained ??= Promise.all(relayers.map(({ address }) => setBalance(address, 0n)));
      await drained;
    }
    return forward();
  });
  const plans = severalPurchases(world, "dry", 4);
  await Promise.all(plans.map((planned) => call(planned)().then(({ status }) => expect(status).toBe(503))));
  proxy.intercept();
  const keys = plans.map(({ key }) => key);
  const signed = () => connection.sql<{ nonce: string; wallet: string }[]>`
    select t.wallet, t.nonce from service.transaction t join service.purchase p on p.id = t.purchase_id
    where p.idempotency_key = any(${keys}::text[]) order by 1, 2`;
  const before = await signed();
  expect(before.length).toBeGreaterThan(0);
  for (const { address } of relayers) await setBalance(address, FULL);
  await expectBought(plans, fromBlock);
  expect(await signed()).toEqual(expect.arrayContaining(before));
});
