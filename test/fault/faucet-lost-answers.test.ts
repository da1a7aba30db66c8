/**
 * The node's answers to the faucet's transactions are lost or false. What this proves, checked on the chain: each claim is
 * paid both transfers, each once, and never signed a second time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { HttpFault, type Interceptor } from "../support/rpc-proxy.ts";
import { claimUntilPaid, expectGrantMined, expectPaidOnce } from "./support/faucet-calls.ts";
import { isSending, onFirstSending, rpcError } from "./support/testnet-faults.ts";
import { newClients, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "faucet" });
});
afterEach(() => setup.proxy.intercept());

/** Longer than the writer waits for an answer, in ms. */
const HANG_MS = 7000;

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
    "the node hangs at the first broadcast, and accepts it after the writer's timeout",
    onFirstSending(async (_call, forward) => {
      await sleep(HANG_MS);
      return forward();
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

test.each(faults)("%s: each claim is paid once", async (_, fault) => {
  const claimants = newClients(2);
  setup.proxy.intercept(fault);
  const results = await Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  for (const [n, { grant }] of results.entries()) {
    const claimant = claimants[n];
    if (claimant) await expectGrantMined(setup, claimant, grant);
  }
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
});

test("no transfer of these claims has more than one nonce", async () => {
  const rows = await setup.connection.sql<{ nonces: number }[]>`
    select count(distinct t.nonce)::int as nonces from service.transaction t where t.intent is not null
    group by t.intent`;
  expect(rows.map(({ nonces }) => nonces)).toEqual(rows.map(() => 1));
  expect(rows).toHaveLength(faults.length * 2 * 2);
});
