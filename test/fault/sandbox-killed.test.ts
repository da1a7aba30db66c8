/**
 * The writer is killed (SIGKILL) at each step of the sandbox's purchases and started again. What this proves, checked on
 * the chain: each call's key buys one policy, and the signed transactions are the mined ones.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { isSimulation } from "../support/ledger.ts";
import {
  expectBoughtOnce,
  nextBlock,
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
  const stored = await setup.connection.sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.purchase_id is not null`;
  await restartWriter(setup);
  const bought = await results;
  await expectBoughtOnce(setup, bought, fromBlock);
  for (const { hash } of stored) {
    const receipt = await setup.testnet.client.getTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
  }
  // A repeated call answers the policy of its key.
  for (const [n, call] of calls.entries()) {
    const again = await tryOnce(setup, call);
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ txHash: bought[n]?.txHash, policyId: bought[n]?.policyId });
  }
});
