/**
 * The writer is killed (SIGKILL) at each step of a claim and started again. What this proves, checked on the chain: each
 * claim is paid both transfers, each once, and the signed transactions are the mined ones.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { claimUntilPaid, expectGrantMined, expectPaidOnce, paidOnChain } from "./support/faucet-calls.ts";
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
  setup = await startTestnetSetup({ parts: "faucet" });
});

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
  readonly afterKill?: (claimants: readonly NewClient[], signed: readonly Hex[]) => Promise<void> | void;
};

const expectSigned = (_: readonly NewClient[], signed: readonly Hex[]) =>
  expect(signed.length).toBeGreaterThan(0);

const steps: readonly Step[] = [
  {
    name: "before anything is signed",
    claimants: 2,
    kill: () =>
      killAtCall(setup, ({ method }) => method === "eth_estimateGas" || method === "eth_call", "before"),
    afterKill: (_, signed) => expect(signed).toEqual([]),
  },
  {
    name: "after taking the nonces, before the commit",
    claimants: 2,
    kill: () =>
      killAtStatement(setup, (tx) => tx`lock table service.transaction in share mode`, "service.transaction"),
    afterKill: (_, signed) => expect(signed).toEqual([]),
  },
  {
    name: "after taking the nonces, before storing the signed bytes",
    claimants: 2,
    kill: () =>
      killAtStatement(
        setup,
        (tx) => tx`lock table service.attempt in share mode`,
        "insert into service.attempt",
      ),
    async afterKill(claimants, signed) {
      expect(signed).toEqual([]);
      expect(await noncesFor(claimants)).toBeGreaterThan(0);
    },
  },
  {
    name: "after signing both transfers, before sending them",
    claimants: 1,
    kill: () => killAtCall(setup, isSending, "before"),
    afterKill: (_, signed) => expect(signed).toHaveLength(2),
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
    name: "after the node accepts one of three claims' transfers, before its answer",
    claimants: 3,
    kill: () => killAtCall(setup, isSending, "after"),
    afterKill: expectSigned,
  },
  {
    name: "after both transfers are mined, before the ledger records them",
    claimants: 1,
    kill: () => killAtCall(setup, isReceiptRead, "before"),
    afterKill: expectSigned,
  },
];

const namedSteps = steps.map((step) => [step.name, step] as const);
test.each(namedSteps)("the writer is killed %s: each claim is paid once", async (_, step) => {
  const claimants = newClients(step.claimants);
  const { dead } = await step.kill();
  const results = Promise.all(claimants.map((one) => claimUntilPaid(setup, one)));
  results.catch(() => {}); // awaited below
  await dead;
  const signed = await signedFor(claimants);
  await step.afterKill?.(claimants, signed);
  await restartWriter(setup);
  for (const [n, { grant }] of (await results).entries()) {
    const claimant = claimants[n];
    if (claimant) await expectGrantMined(setup, claimant, grant);
  }
  await expectPaidOnce(
    setup,
    claimants.map(({ wallet }) => wallet),
  );
  expect(await signedFor(claimants)).toEqual(expect.arrayContaining(signed));
});
