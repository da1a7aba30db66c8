/**
 * The writer is killed (SIGKILL) at each step of the sandbox's purchases and started again. What this proves, checked on
 * the chain: each call's key buys one policy, under the nonce that was signed first.
 */
import { beforeAll, expect, test } from "vitest";
import { isSimulation, policiesOnChain } from "../support/ledger.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import {
  expectBoughtOnce,
  nextBlock,
  sandboxWallet,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  restartWriter,
  type WriterKill,
} from "./support/testnet-faults.ts";
import { startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

const CALLS = 3;

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "sandbox" });
  await waitUntilSandboxReady(setup);
});

const steps: readonly (readonly [name: string, kill: () => WriterKill | Promise<WriterKill>])[] = [
  ["before anything is signed", () => killAtCall(setup, isSimulation, "before")],
  [
    "after taking the nonces, before the commit",
    () =>
      killAtStatement(setup, (tx) => tx`lock table service.transaction in share mode`, "service.transaction"),
  ],
  [
    "after taking the nonces, before storing the signed bytes",
    () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.attempt in share mode`,
        "insert into service.attempt",
      ),
  ],
  ["after signing, before sending", () => killAtCall(setup, isSending, "before")],
  ["after the node accepts the bytes, before its answer", () => killAtCall(setup, isSending, "after")],
  ["after mining, before the ledger records it", () => killAtCall(setup, isReceiptRead, "before")],
];

test.each(steps)("the writer is killed %s: each key buys one policy", async (_, kill) => {
  const fromBlock = await nextBlock(setup);
  const { dead } = await kill();
  const calls = severalCalls(CALLS);
  const results = Promise.all(calls.map((call) => tryUntilBought(setup, call)));
  results.catch(() => {}); // awaited below
  await dead;
  const signed = await setup.connection.sql<{ id: string }[]>`
    select intent as id from service.transaction where kind = 'purchase'`;
  await restartWriter(setup);
  const bought = await results;
  await expectBoughtOnce(setup, bought, fromBlock);
  await expectOneNonceEach(
    setup.connection,
    signed.map(({ id }) => id),
    await policiesOnChain(setup.testnet, sandboxWallet),
  );
  // A repeated call answers the policy of its key.
  for (const [n, call] of calls.entries()) {
    const again = await tryOnce(setup, call);
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ txHash: bought[n]?.txHash, policyId: bought[n]?.policyId });
  }
});
