/**
 * The writer is killed (SIGKILL) during claims and during the sandbox's purchases, and started again. `writer-killed` and
 * `keeper-writers` kill it at each step of the same code. What this proves, checked on the testnet: each claim is paid both transfers,
 * each once, by the transactions that were signed; each call's key buys one policy, under the nonce that was signed first.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { policiesOnChain } from "../support/ledger.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import { claimUntilPaid, expectGrantMined, expectPaidOnce, paidOnChain } from "./support/faucet-calls.ts";
import {
  expectBoughtOnce,
  nextBlock,
  sandboxWallet,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  restartWriter,
  type WriterKill,
} from "./support/testnet-faults.ts";
import { type NewClient, newClients, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "both" });
  await waitUntilSandboxReady(setup);
});

/** Nonces are stored, and the signed bytes are not. */
const killBeforeBytesAreStored = () =>
  killAtStatement(setup, (tx) => tx`lock table service.attempt in share mode`, "insert into service.attempt");

/** The hashes of all transactions that were signed for these claimants. */
async function signedFor(claimants: readonly NewClient[]): Promise<Hex[]> {
  const wallets = claimants.map(({ wallet }) => wallet.toLowerCase());
  const rows = await setup.connection.sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
      join service.service_transaction_progress e on e.id = t.intent join service.faucet_claim c on c.id = e.claim_id
    where c.wallet = any(${wallets}::text[])`;
  return rows.map(({ hash }) => hash).toSorted();
}

/** How many nonces these claimants' transfers have. */
async function noncesFor(claimants: readonly NewClient[]): Promise<number> {
  const wallets = claimants.map(({ wallet }) => wallet.toLowerCase());
  const rows = await setup.connection.sql`
    select 1 from service.transaction t join service.service_transaction e on e.id = t.intent
      join service.faucet_claim c on c.id = e.claim_id where c.wallet = any(${wallets}::text[])`;
  return rows.length;
}

type Step = {
  readonly name: string;
  readonly claimants: number;
  readonly kill: () => WriterKill | Promise<WriterKill>;
  /** Checks the state right after the kill. */
  readonly afterKill: (claimants: readonly NewClient[], signed: readonly Hex[]) => Promise<void> | void;
};

const steps: readonly Step[] = [
  {
    name: "after taking the nonces, before storing the signed bytes",
    claimants: 2,
    kill: killBeforeBytesAreStored,
    async afterKill(claimants, signed) {
      expect(signed).toEqual([]);
      expect(await noncesFor(claimants)).toBeGreaterThan(0);
    },
  },
  {
    name: "between sending the first transfer and the second",
    claimants: 1,
    kill: () => killAtCall(setup, isSending, "before", 2),
    async afterKill([claimant], signed) {
      expect(signed).toHaveLength(2);
      if (!claimant) throw new Error("nobody claimed");
      const { ether, usdc } = await paidOnChain(setup, claimant.wallet);
      expect([ether > 0n, usdc.length > 0].filter(Boolean).length, "at most one of the two").toBeLessThan(2);
    },
  },
  {
    name: "after both transfers are mined, before the ledger records them",
    claimants: 1,
    kill: () => killAtCall(setup, isReceiptRead, "before"),
    afterKill: (_, signed) => expect(signed.length).toBeGreaterThan(0),
  },
];

const namedSteps = steps.map((step) => [step.name, step] as const);
test.each(namedSteps)("a claim, and the writer is killed %s: each claim is paid once", async (_, step) => {
  const claimants = newClients(step.claimants);
  const { dead } = await step.kill();
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await dead;
  const signed = await signedFor(claimants);
  await step.afterKill(claimants, signed);
  await restartWriter(setup);
  const paid = await sendingAgainAtOnce(setup.connection.sql, results);
  for (const [n, { grant }] of paid.entries()) {
    const claimant = claimants[n];
    if (claimant) await expectGrantMined(setup, claimant, grant);
  }
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
  expect(await signedFor(claimants)).toEqual(expect.arrayContaining(signed));
});

const purchaseSteps: readonly (readonly [name: string, kill: () => WriterKill | Promise<WriterKill>])[] = [
  ["after taking the nonces, before storing the signed bytes", killBeforeBytesAreStored],
  ["after the node accepts the bytes, before its answer", () => killAtCall(setup, isSending, "after")],
];

test.each(purchaseSteps)(
  "purchases, and the writer is killed %s: each key buys one policy",
  async (_, kill) => {
    const fromBlock = await nextBlock(setup);
    const { dead } = await kill();
    const calls = severalCalls(3);
    const results = Promise.all(calls.map((call) => tryUntilBought(setup, call)));
    results.catch(() => {}); // awaited below
    await dead;
    const signed = await setup.connection.sql<{ id: string }[]>`
      select intent as id from service.transaction where kind = 'purchase'`;
    await restartWriter(setup);
    const bought = await sendingAgainAtOnce(setup.connection.sql, results);
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
  },
);
