/**
 * The testnet's node loses and falsifies answers to broadcasts, during claims and the sandbox's purchases. What this proves, checked
 * on the chain: each claim is paid both transfers, each once, and never signed a second time; each call's key buys one policy, and the
 * client's final answer is the policy on the chain.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { HttpFault, type Interceptor } from "../support/rpc-proxy.ts";
import { claimUntilPaid, expectGrantMined, expectPaidOnce } from "./support/faucet-calls.ts";
import {
  expectBoughtOnce,
  nextBlock,
  severalCalls,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending, onFirstSending, rpcError } from "./support/testnet-faults.ts";
import { newClients, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "both" });
  await waitUntilSandboxReady(setup);
});
afterEach(() => setup.proxy.intercept());

/** Errors that nodes answer to a transaction, whether they accepted it or not. */
const errors = [
  "already known",
  "nonce too low",
  "insufficient funds for gas * price + value",
  "txpool is full",
];
let answered = 0;
const nextError = (): string => {
  answered += 1;
  return errors[answered % errors.length] ?? "";
};

const faults: readonly (readonly [name: string, fault: Interceptor])[] = [
  [
    "the node accepts every transaction, and its answer is lost",
    async (call, forward) => {
      const answer = await forward();
      return isSending(call) ? "lost" : answer;
    },
  ],
  ["the first broadcast never reaches the node", onFirstSending(async () => "lost")],
  [
    "the node answers 500 to the first broadcast",
    onFirstSending(async () => {
      throw new HttpFault(500);
    }),
  ],
  [
    "the node answers 429 to the first broadcast",
    onFirstSending(async () => {
      throw new HttpFault(429, { "retry-after": "1" });
    }),
  ],
  [
    "the node accepts the first broadcast and answers an error",
    onFirstSending(async (_call, forward) => {
      await forward();
      return rpcError(nextError());
    }),
  ],
  [
    "the node rejects the first broadcast with a misleading error",
    onFirstSending(async () => rpcError(nextError())),
  ],
];
/** Claims, with two transfers each, and purchases under each fault: together as many transactions as there are errors, or more. */
const [CLAIMS, CALLS] = [2, 2];

test.each(faults)("%s: each claim is paid once, each key buys one policy", async (_, fault) => {
  const fromBlock = await nextBlock(setup);
  const claimants = newClients(CLAIMS);
  setup.proxy.intercept(fault);
  const [grants, bought] = await sendingAgainAtOnce(
    setup.connection.sql,
    Promise.all([
      Promise.all(claimants.map((one) => claimUntilPaid(setup, one))),
      Promise.all(severalCalls(CALLS).map((call) => tryUntilBought(setup, call))),
    ]),
  );
  for (const [n, { grant }] of grants.entries()) {
    const claimant = claimants[n];
    if (claimant) await expectGrantMined(setup, claimant, grant);
  }
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
  await expectBoughtOnce(setup, bought, fromBlock);
});

test("no transfer of these claims has more than one nonce", async () => {
  const rows = await setup.connection.sql<{ nonces: number }[]>`
    select count(distinct t.nonce)::int as nonces from service.transaction t
      join service.service_transaction e on e.id = t.intent where e.claim_id is not null
    group by t.intent`;
  expect(rows.map(({ nonces }) => nonces)).toEqual(rows.map(() => 1));
  expect(rows).toHaveLength(faults.length * CLAIMS * 2);
});
