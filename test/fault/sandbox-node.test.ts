/**
 * The testnet's node loses answers, lies, and forgets blocks over the sandbox's purchases. What this proves, counted on the
 * chain: each call's key is one policy, and what a client is told of it in the end is what stands in the chain.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { openProtocol, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import { askRpc, HttpFault, type Interceptor } from "../support/rpc-proxy.ts";
import {
  boughtIn,
  expectBoughtOnce,
  nextBlock,
  sandboxReady,
  severalCalls,
  tryOnce,
  tryPatiently,
} from "./support/sandbox-truth.ts";
import { atFirst, isSending, says } from "./support/strikes.ts";
import { startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

const DEPTH = 4;

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "sandbox", env: { writer: { CONFIRMATIONS: "10" } } });
  await sandboxReady(world);
});
afterEach(() => world.proxy.intercept());

const fates: readonly { name: string; fate: Interceptor }[] = [
  {
    name: "every answer to a sending is lost",
    async fate(call, forward) {
      const answer = await forward();
      return isSending(call) ? "lost" : answer;
    },
  },
  { name: "the first sending never arrives", fate: atFirst(async () => "lost") },
  {
    name: "500 or 429 at first",
    fate: atFirst(async (_call, _forward, request) => {
      throw new HttpFault(request % 2 === 0 ? 500 : 429, { "retry-after": "1" });
    }),
  },
  {
    name: "already known, though it is not",
    fate: atFirst(async () => says("already known")),
  },
  {
    name: "nonce too low, though it took the bytes",
    fate: atFirst(async (_call, forward) => {
      await forward();
      return says("nonce too low");
    }),
  },
];

test.each(fates)("$name", async ({ fate }) => {
  const fromBlock = await nextBlock(world);
  world.proxy.intercept(fate);
  const bought = await Promise.all(severalCalls(3).map((call) => tryPatiently(world, call)));
  await expectBoughtOnce(world, bought, fromBlock);
});

test("a purchase falls out of the chain and comes back under another number: the key tells of that one", async () => {
  const { testnet, proxy } = world;
  const protocol = openProtocol(testnet.deployment, testnet.url);
  const rival = await newBuyer(testnet);
  await testnet.client.mine({ blocks: DEPTH }); // so that nothing else falls out
  // From here no block comes by itself, so that the purchase stays in one of the newest.
  await mineOnlyTransactions(testnet);
  const fromBlock = await nextBlock(world);
  const [call] = severalCalls(1);
  const [product] = catalogueTerms;
  if (!call || !product) throw new Error("nothing to buy");
  const before = await tryPatiently(world, call);
  proxy.intercept(async (rpc, forward) => (isSending(rpc) ? "lost" : forward()));
  expect(await askRpc(testnet.url, "anvil_reorg", [DEPTH, []])).toEqual({ result: null });
  await testnet.client.mine({ blocks: 1 });
  // Somebody else's policy of the same product takes its number.
  const taken = await purchase(protocol, rival, product, usdc(100));
  expect(String(taken.policyId)).toBe(before.policyId);
  await mineEverySecond(testnet);
  await waitFor({
    what: "the key to know that nothing stands",
    probe: async () => ((await tryOnce(world, call)).status === 503 ? true : undefined),
    timeoutMs: 60_000,
  });
  proxy.intercept();
  const after = await waitFor({
    what: "the key to tell of the policy",
    probe: async () => {
      const answer = await tryOnce(world, call);
      return answer.status === 200 ? boughtIn(answer) : undefined;
    },
    timeoutMs: 60_000,
  });
  expect(after.policyId).not.toBe(before.policyId);
  await expectBoughtOnce(world, [after], fromBlock);
});
