/**
 * The testnet's node loses answers, answers false errors, and drops blocks during the sandbox's purchases. What this
 * proves, checked on the chain: each call's key buys one policy, and the client's final answer is the policy on the chain.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { openProtocol, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import { askRpc, HttpFault, type Interceptor } from "../support/rpc-proxy.ts";
import {
  expectBoughtOnce,
  nextBlock,
  parsePurchase,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { isSending, onFirstSending, rpcError } from "./support/testnet-faults.ts";
import { startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

const DEPTH = 4;

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "sandbox", env: { writer: { CONFIRMATIONS: "10" } } });
  await waitUntilSandboxReady(setup);
});
afterEach(() => setup.proxy.intercept());

const faults: readonly (readonly [name: string, fault: Interceptor])[] = [
  [
    "the answer to every broadcast is lost",
    async (call, forward) => {
      const answer = await forward();
      return isSending(call) ? "lost" : answer;
    },
  ],
  ["the first broadcast never reaches the node", onFirstSending(async () => "lost")],
  [
    "the node answers 500 or 429 to the first broadcast",
    onFirstSending(async (_call, _forward, request) => {
      throw new HttpFault(request % 2 === 0 ? 500 : 429, { "retry-after": "1" });
    }),
  ],
  ["the node falsely answers 'already known'", onFirstSending(async () => rpcError("already known"))],
  [
    "the node accepts the transaction and answers 'nonce too low'",
    onFirstSending(async (_call, forward) => {
      await forward();
      return rpcError("nonce too low");
    }),
  ],
];

test.each(faults)("%s: each key buys one policy", async (_, fault) => {
  const fromBlock = await nextBlock(setup);
  setup.proxy.intercept(fault);
  const bought = await Promise.all(severalCalls(3).map((call) => tryUntilBought(setup, call)));
  await expectBoughtOnce(setup, bought, fromBlock);
});

test("a reorganisation gives a purchase another policy number: its key answers the new number", async () => {
  const { testnet, proxy } = setup;
  const protocol = openProtocol(testnet.deployment, testnet.url);
  const rival = await newBuyer(testnet);
  await testnet.client.mine({ blocks: DEPTH }); // keeps everything else out of the reorganisation
  // No empty blocks from here on, so that the purchase stays in one of the newest.
  await mineOnlyTransactions(testnet);
  const fromBlock = await nextBlock(setup);
  const [call] = severalCalls(1);
  const [product] = catalogueTerms;
  if (!call || !product) throw new Error("nothing to buy");
  const before = await tryUntilBought(setup, call);
  proxy.intercept(async (rpc, forward) => (isSending(rpc) ? "lost" : forward()));
  expect(await askRpc(testnet.url, "anvil_reorg", [DEPTH, []])).toEqual({ result: null });
  await testnet.client.mine({ blocks: 1 });
  // Another buyer's policy of the same product takes its number.
  const taken = await purchase(protocol, rival, product, usdc(100));
  expect(String(taken.policyId)).toBe(before.policyId);
  await mineEverySecond(testnet);
  await waitFor({
    what: "the key to answer 503",
    probe: async () => ((await tryOnce(setup, call)).status === 503 ? true : undefined),
  });
  proxy.intercept();
  const after = await waitFor({
    what: "the key to answer 200",
    probe: async () => {
      const answer = await tryOnce(setup, call);
      return answer.status === 200 ? parsePurchase(answer) : undefined;
    },
  });
  expect(after.policyId).not.toBe(before.policyId);
  await expectBoughtOnce(setup, [after], fromBlock);
});
