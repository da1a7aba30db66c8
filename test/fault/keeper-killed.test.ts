/**
 * The writer is killed (SIGKILL) at each step of the keeper's triggers and started again. What this proves, from the chain: every
 * due policy is triggered, each once; the wallet's nonces have no gap; nothing is signed twice for a policy.
 */
import { beforeAll, expect, test } from "vitest";
import { expectNoNonceGaps } from "./support/assertions.ts";
import { buyPolicies, buyPoliciesAtOnce, crash, prepareBuyer, untilAll } from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import { expectNothingSignedTwice, expectTriggeredOnce, untilIndexed } from "./support/keeper-truth.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  restartWriter,
  type WriterKill,
} from "./support/testnet-faults.ts";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});

type Step = { readonly step: string; readonly prepare: () => Promise<WriterKill> | WriterKill };

/** In the order in which a batch comes to them. */
const steps: readonly Step[] = [
  {
    step: "before it simulates",
    prepare: () => killAtCall(setup, ({ method }) => method === "eth_simulateV1", "before"),
  },
  {
    step: "while it records a batch",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.keeper_task in share mode`,
        "insert into service.keeper_task",
      ),
  },
  {
    step: "after a batch is recorded",
    prepare: () => killAtCall(setup, ({ method }) => method === "eth_estimateGas", "before"),
  },
  {
    step: "while it takes nonces",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.transaction in share mode`,
        "insert into service.transaction",
      ),
  },
  {
    step: "after nonces are stored, before the signed bytes are",
    prepare: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.attempt in share mode`,
        "insert into service.attempt",
      ),
  },
  { step: "before it sends stored bytes", prepare: () => killAtCall(setup, isSending, "before") },
  { step: "after the node has the bytes", prepare: () => killAtCall(setup, isSending, "after") },
  {
    step: "after mining, before it reads receipts",
    prepare: () => killAtCall(setup, isReceiptRead, "before"),
  },
];

async function expectAllTriggeredOnce(due: readonly bigint[]): Promise<void> {
  await untilAll(setup, "triggered", due);
  await expectTriggeredOnce(setup, due);
  await expectNothingSignedTwice(setup, due);
  await expectNoNonceGaps(setup);
}

test.each(steps)("the writer is killed $step: every due policy is triggered once", async ({ prepare }) => {
  const due = await buyPolicies(setup, 5);
  await untilIndexed(setup);
  const { dead } = await prepare();
  await crash(setup);
  await dead;
  await restartWriter(setup);
  await expectAllTriggeredOnce(due);
});

test("a crash makes 200 policies due, and the writer is killed at one step after the other: each is triggered once", async () => {
  const { connection, proxy, stack } = setup;
  const due = await buyPoliciesAtOnce(setup, 200);
  expect(due).toHaveLength(200);
  await untilIndexed(setup);
  let isFirst = true;
  for (const { prepare } of steps) {
    const { dead } = await prepare();
    if (isFirst) await crash(setup);
    else await stack.start("writer", { wait: false });
    isFirst = false;
    await dead;
    proxy.intercept();
    await connection.sql`update service.relayer_wallet set lease_until = now()`;
  }
  await stack.start("writer");
  await expectAllTriggeredOnce(due);
});
