/**
 * A node of which nothing can be relied on: requests are refused (429), fail (500), are lost before they are read or
 * after they were carried out, or take their time; transactions are answered with words that prove nothing. What this
 * proves, counted on the chain: each key is one policy, and nothing is called failed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, beforeAll, expect, test } from "vitest";
import { HttpFault, type RpcAnswer } from "../support/rpc-proxy.ts";
import { buyPatiently } from "./support/client.ts";
import { expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
import { severalPurchases, startWorld, type World } from "./support/world.ts";

const seed = Number(process.env.FAULT_SEED || Math.floor(Math.random() * 2 ** 31));

let world: World;
beforeAll(async () => {
  world = await startWorld({ buyers: 3 });
});
afterEach(() => world.proxy.intercept());

async function buyAll(name: string, count: number): Promise<void> {
  const bought = await Promise.all(
    severalPurchases(world, name, count).map(async (planned) => {
      const buyer = world.buyers[planned.buyer];
      if (!buyer) throw new Error("no buyer");
      const call = () => buyer.buy({}, { "idempotency-key": planned.key });
      return { planned, told: [await buyPatiently(call, "impatient")] };
    }),
  );
  const fresh = bought.flatMap(({ told }) => told.map(({ receipt }) => receipt.blockNumber));
  await expectOnePolicyPerKey(world, bought, BigInt(Math.min(...fresh)));
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
}

const fates = ["fine", "fine", "fine", "slow", 429, 500, "lost before", "lost after"] as const;

test("two requests in five fail, one way or another", { timeout: 180_000 }, async () => {
  console.log(`FAULT_SEED=${seed}`);
  const drawn = fc.sample(fc.noBias(fc.constantFrom(...fates)), { seed, numRuns: 5000 });
  world.proxy.intercept(async (_call, forward, request) => {
    const fate = drawn[request % drawn.length];
    if (typeof fate === "number") throw new HttpFault(fate, { "retry-after": "1" });
    if (fate === "lost before") return "lost";
    if (fate === "slow") await sleep(1000);
    const answer = await forward();
    return fate === "lost after" ? "lost" : answer;
  });
  await buyAll("flaky", 30);
});

/** What nodes say to bytes, whatever they did with them. */
const words = [
  "already known",
  "nonce too low",
  "replacement transaction underpriced",
  "transaction underpriced",
  "insufficient funds for gas * price + value",
  "max fee per gas less than block base fee",
  "nonce too high",
  "txpool is full",
] as const;

test.each(["took", "did not take"])(
  "words to bytes that the node %s: nothing is proven by them",
  async (how) => {
    const { connection, proxy } = world;
    const said = new Map<unknown, string>();
    proxy.intercept(async (call, forward): Promise<RpcAnswer> => {
      if (call.method !== "eth_sendRawTransaction" || said.has(call.params[0])) return forward();
      const message = words[said.size % words.length] ?? "";
      said.set(call.params[0], message);
      if (how === "took") await forward();
      return { error: { code: -32000, message } };
    });
    await buyAll(`words ${how}`, words.length);
    expect(new Set(said.values()).size).toBe(words.length);
    // A fee may be raised meanwhile, and always for the same nonce.
    const nonces = await connection.sql<{ transactions: number }[]>`
    select count(t.id)::int as transactions from service.purchase p join service.transaction t on t.purchase_id = p.id
    where p.idempotency_key like ${`words ${how}%`} group by p.id`;
    expect(nonces.map(({ transactions }) => transactions)).toEqual(words.map(() => 1));
  },
);
