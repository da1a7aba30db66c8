/**
 * The node takes calls and does not answer for thirty seconds, and then does all that it was asked. What this proves:
 * the api keeps to its bounds and its documented codes meanwhile, and each key is one policy afterwards.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { buyPatiently } from "./support/client.ts";
import { expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
import { severalPurchases, startWorld, type World } from "./support/world.ts";

const HANG_MS = 30_000;
const WAIT_MS = 10_000;
/** The wait for the transaction, the bounds of the checks before it, and something for a busy machine. */
const BOUND_MS = WAIT_MS + 15_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    buyers: 2,
    apiThroughProxy: true,
    env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } },
  });
});

test("the node hangs for thirty seconds in the midst of purchases", async () => {
  const { proxy, stack, buyers } = world;
  const request = await checkedRequests(stack.apiUrl);
  const buy = async (buyer: number, key: string): Promise<HttpAnswer> => {
    const account = buyers[buyer]?.account.address;
    const begun = performance.now();
    const answer = await request("/api/v1/policies", {
      headers: { ...buyers[buyer]?.headers, "idempotency-key": key },
      body: { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: account },
    });
    expect(performance.now() - begun).toBeLessThan(BOUND_MS);
    return answer;
  };

  let wake: () => void = () => {};
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let asleep: () => void = () => {};
  const hanging = new Promise<void>((resolve) => {
    asleep = resolve;
  });
  let hangs = false;
  // It falls asleep over the first transaction; what it was asked meanwhile it does when it wakes up.
  proxy.intercept(async (call, forward) => {
    if (call.method === "eth_sendRawTransaction") hangs = true;
    if (!hangs) return forward();
    asleep();
    await awake;
    return forward();
  });

  const early = severalPurchases(world, "early", 6);
  const first = Promise.all(early.map(({ buyer, key }) => buy(buyer, key)));
  await hanging;
  const woken = sleep(HANG_MS).then(wake);
  // What was accepted is on its way; what was still being looked into could not be.
  const codes = (await first).map((answer) => failure(answer).join(" "));
  expect(new Set([...codes, "503 chain_not_found"])).toEqual(
    new Set(["503 purchase_pending", "503 chain_not_found"]),
  );

  // The state that purchases are checked against is a second old at most: nothing new is accepted unchecked.
  const late = severalPurchases(world, "late", 4);
  for (const answer of await Promise.all(late.map(({ buyer, key }) => buy(buyer, key)))) {
    expect(failure(answer)).toEqual([503, "chain_not_found"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  await woken;
  const bought = await Promise.all(
    [...early, ...late].map(async (planned) => ({
      planned,
      told: [await buyPatiently(() => buy(planned.buyer, planned.key), "impatient")],
    })),
  );
  await expectOnePolicyPerKey(world, bought);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
});
