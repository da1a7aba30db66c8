/**
 * The writer is killed (SIGKILL) at each step of the sandbox's purchases and started again. What this proves, counted on
 * the chain: each call's key is one policy, and what was signed is what is mined.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { isSimulation } from "../support/ledger.ts";
import {
  expectBoughtOnce,
  nextBlock,
  sandboxReady,
  severalCalls,
  tryOnce,
  tryPatiently,
} from "./support/sandbox-truth.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  revive,
  type Strike,
} from "./support/strikes.ts";
import { startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

const CALLS = 3;

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "sandbox" });
  await sandboxReady(world);
});

const steps: readonly { name: string; strike: () => Strike | Promise<Strike> }[] = [
  { name: "before anything was signed", strike: () => killAtCall(world, isSimulation, "before") },
  {
    name: "with the nonces taken and nothing committed",
    strike: () =>
      killAtStatement(world, (tx) => tx`lock table service.transaction in share mode`, "service.transaction"),
  },
  { name: "with signed bytes stored and not sent", strike: () => killAtCall(world, isSending, "before") },
  {
    name: "after the node took the bytes, before its answer",
    strike: () => killAtCall(world, isSending, "after"),
  },
  {
    name: "after they were mined, before they were written down",
    strike: () => killAtCall(world, isReceiptRead, "before"),
  },
];

test.each(steps)("$name", async ({ strike }) => {
  const fromBlock = await nextBlock(world);
  const { dead } = await strike();
  const calls = severalCalls(CALLS);
  const told = Promise.all(calls.map((call) => tryPatiently(world, call)));
  told.catch(() => {}); // waited for below
  await dead;
  const stored = await world.connection.sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.purchase_id is not null`;
  await revive(world);
  const bought = await told;
  await expectBoughtOnce(world, bought, fromBlock);
  for (const { hash } of stored) {
    const receipt = await world.testnet.client.getTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
  }
  // Each key is its policy, whoever asks again.
  for (const [n, call] of calls.entries()) {
    const again = await tryOnce(world, call);
    expect(again.status).toBe(200);
    expect(again.json).toMatchObject({ txHash: bought[n]?.txHash, policyId: bought[n]?.policyId });
  }
});
