/**
 * An unreliable node: requests are refused (429), fail (500), get lost before or after the node executes them, or are
 * slow; transactions get error messages that prove nothing. What this proves, checked on the chain: each key buys one
 * policy, and no purchase is called failed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { numberToHex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { HttpFault, type RpcAnswer } from "../support/rpc-proxy.ts";
import { drawSeed } from "../support/seed.ts";
import { expectNoFalseFailures, expectNoNonceGaps, expectOnePolicyPerKey } from "./support/assertions.ts";
import { buyAll, type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

const seed = drawSeed("FAULT_SEED");

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 3 });
});
afterEach(() => setup.proxy.intercept());

async function buyChecked(name: string, count: number): Promise<void> {
  const purchases = await buyAll(setup, name, count);
  const blocks = purchases.flatMap(({ answers }) => answers.map(({ receipt }) => receipt.blockNumber));
  await expectOnePolicyPerKey(setup, purchases, BigInt(Math.min(...blocks)));
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
}

const outcomes = ["fine", "fine", "fine", "slow", 429, 500, "lost before", "lost after"] as const;

test("half of all requests fail in random ways: each key buys one policy", async () => {
  const drawn = fc.sample(fc.noBias(fc.constantFrom(...outcomes)), { seed, numRuns: 5000 });
  setup.proxy.intercept(async (_call, forward, request) => {
    const outcome = drawn[request % drawn.length];
    if (typeof outcome === "number") throw new HttpFault(outcome, { "retry-after": "1" });
    if (outcome === "lost before") return "lost";
    if (outcome === "slow") await sleep(1000);
    const answer = await forward();
    return outcome === "lost after" ? "lost" : answer;
  });
  await buyChecked("flaky", 12);
});

test("the node counts 2^40 transactions of each wallet every other time: none is taken for unknown, and each key buys one policy", async () => {
  const { connection, proxy } = setup;
  let asked = 0;
  proxy.intercept(async ({ method }, forward) => {
    if (method !== "eth_getTransactionCount") return forward();
    asked += 1;
    return asked % 2 === 0 ? { result: numberToHex(2 ** 40) } : forward();
  });
  await expect.poll(() => asked).toBeGreaterThan(8);
  await buyChecked("miscounted", 4);
  const rows = await connection.sql`select 1 from service.relayer_wallet where unknown_since is not null`;
  expect(rows).toEqual([]);
});

/** Errors that nodes answer to a transaction, whether they accepted it or not. */
const errors = [
  "already known",
  "nonce too low",
  "replacement transaction underpriced",
  "transaction underpriced",
  "insufficient funds for gas * price + value",
  "max fee per gas less than block base fee",
  "nonce too high",
  "txpool is full",
] as const;

test.each(["accepted", "rejected"])(
  "the node answers errors to transactions that it %s: each key buys one policy",
  async (how) => {
    const { connection, proxy } = setup;
    const answered = new Map<unknown, string>();
    proxy.intercept(async (call, forward): Promise<RpcAnswer> => {
      if (call.method !== "eth_sendRawTransaction" || answered.has(call.params[0])) return forward();
      const message = errors[answered.size % errors.length] ?? "";
      answered.set(call.params[0], message);
      if (how === "accepted") await forward();
      return { error: { code: -32000, message } };
    });
    await buyChecked(`errors ${how}`, errors.length);
    expect(new Set(answered.values()).size).toBe(errors.length);
    // The writer may raise a fee meanwhile, but only for the same nonce.
    const nonces = await connection.sql<{ transactions: number }[]>`
    select count(t.id)::int as transactions from service.purchase_progress p join service.transaction t on t.intent = p.id
    where p.idempotency_key like ${`errors ${how}%`} group by p.id`;
    expect(nonces.map(({ transactions }) => transactions)).toEqual(errors.map(() => 1));
  },
);
