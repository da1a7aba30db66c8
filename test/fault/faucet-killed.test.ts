/**
 * The writer is killed (SIGKILL) at each step of a claim and started again. What this proves, counted on the chain: each
 * wallet that claimed has both transfers, each once, and what was signed is what is mined.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { claimPatiently, expectPaidOnce, expectTruth, paidOnChain } from "./support/faucet-truth.ts";
import {
  isReceiptRead,
  isSending,
  killAtCall,
  killAtStatement,
  revive,
  type Strike,
} from "./support/strikes.ts";
import { type Newcomer, newcomers, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "faucet" });
});

/** The hashes of all that was signed for these wallets. */
async function signedFor(claimants: readonly Newcomer[]): Promise<Hex[]> {
  const wallets = claimants.map(({ wallet }) => wallet.toLowerCase());
  const rows = await world.connection.sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
      join service.errand e on e.id = t.errand_id join service.faucet_claim c on c.id = e.claim_id
    where c.wallet = any(${wallets}::text[])`;
  return rows.map(({ hash }) => hash).toSorted();
}

type Step = {
  readonly name: string;
  readonly claimants: number;
  readonly strike: () => Strike | Promise<Strike>;
  /** What is certain of the moment of death. */
  readonly atDeath?: (claimants: readonly Newcomer[], signed: readonly Hex[]) => Promise<void> | void;
};

const expectSomething = (_: readonly Newcomer[], signed: readonly Hex[]) =>
  expect(signed.length).toBeGreaterThan(0);

const steps: readonly Step[] = [
  {
    name: "before anything was signed",
    claimants: 2,
    strike: () =>
      killAtCall(world, ({ method }) => method === "eth_estimateGas" || method === "eth_call", "before"),
    atDeath: (_, signed) => expect(signed).toEqual([]),
  },
  {
    name: "with the nonces taken and nothing committed",
    claimants: 2,
    strike: () =>
      killAtStatement(world, (tx) => tx`lock table service.transaction in share mode`, "service.transaction"),
    atDeath: (_, signed) => expect(signed).toEqual([]),
  },
  {
    name: "with both signed and neither sent",
    claimants: 1,
    strike: () => killAtCall(world, isSending, "before"),
    atDeath: (_, signed) => expect(signed).toHaveLength(2),
  },
  {
    name: "between the first transfer and the second",
    claimants: 1,
    strike: () => killAtCall(world, isSending, "before", 2),
    async atDeath([claimant], signed) {
      expect(signed).toHaveLength(2);
      if (!claimant) throw new Error("nobody claimed");
      const { ether, usdc } = await paidOnChain(world, claimant.wallet);
      expect([ether > 0n, usdc.length > 0].filter(Boolean).length, "one of the two at most").toBeLessThan(2);
    },
  },
  {
    name: "after the node took one of three claims' bytes, before its answer",
    claimants: 3,
    strike: () => killAtCall(world, isSending, "after"),
    atDeath: expectSomething,
  },
  {
    name: "after both were mined, before they were written down",
    claimants: 1,
    strike: () => killAtCall(world, isReceiptRead, "before"),
    atDeath: expectSomething,
  },
];

test.each(steps)("$name", async ({ claimants: count, strike, atDeath }) => {
  const claimants = newcomers(count);
  const { dead } = await strike();
  const told = Promise.all(claimants.map((one) => claimPatiently(world, one)));
  told.catch(() => {}); // waited for below
  await dead;
  const signed = await signedFor(claimants);
  await atDeath?.(claimants, signed);
  await revive(world);
  for (const [n, { granted }] of (await told).entries()) {
    const claimant = claimants[n];
    if (claimant) await expectTruth(world, claimant, granted);
  }
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
  expect(await signedFor(claimants)).toEqual(expect.arrayContaining(signed));
});
