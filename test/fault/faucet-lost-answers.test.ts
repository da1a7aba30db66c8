/**
 * What the node says to the faucet's bytes is lost, or untrue. What this proves, counted on the chain: each claim is paid
 * both transfers, each once, and nothing is signed a second time for doubt.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { HttpFault, type Interceptor } from "../support/rpc-proxy.ts";
import { claimPatiently, expectPaidOnce, expectTruth } from "./support/faucet-truth.ts";
import { atFirst, isSending, says } from "./support/strikes.ts";
import { newcomers, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "faucet" });
});
afterEach(() => world.proxy.intercept());

/** Longer than the writer waits for an answer, in ms. */
const HANG_MS = 7000;

/** What nodes say to bytes, whatever they did with them. */
const words = [
  "already known",
  "nonce too low",
  "insufficient funds for gas * price + value",
  "txpool is full",
];
let said = 0;
const nextWords = (): string => {
  said += 1;
  return words[said % words.length] ?? "";
};

const fates: readonly { name: string; fate: Interceptor }[] = [
  {
    name: "every answer is lost, though the node took the bytes",
    async fate(call, forward) {
      const answer = await forward();
      return isSending(call) ? "lost" : answer;
    },
  },
  { name: "the first sending never reaches it", fate: atFirst(async () => "lost") },
  {
    name: "500 at first",
    fate: atFirst(async () => {
      throw new HttpFault(500);
    }),
  },
  {
    name: "429 at first",
    fate: atFirst(async () => {
      throw new HttpFault(429, { "retry-after": "1" });
    }),
  },
  {
    name: "it hangs at first, and takes the bytes when nobody waits any more",
    fate: atFirst(async (_call, forward) => {
      await sleep(HANG_MS);
      return forward();
    }),
  },
  {
    name: "it says all sorts of things, and took the bytes",
    fate: atFirst(async (_call, forward) => {
      await forward();
      return says(nextWords());
    }),
  },
  {
    name: "it says all sorts of things, and did not take the bytes",
    fate: atFirst(async () => says(nextWords())),
  },
];

test.each(fates)("$name", async ({ fate }) => {
  const claimants = newcomers(2);
  world.proxy.intercept(fate);
  const told = await Promise.all(claimants.map((one) => claimPatiently(world, one)));
  for (const [n, { granted }] of told.entries()) {
    const claimant = claimants[n];
    if (claimant) await expectTruth(world, claimant, granted);
  }
  await expectPaidOnce(
    world,
    claimants.map(({ wallet }) => wallet),
  );
});

test("no errand of them all has more than one nonce", async () => {
  const rows = await world.connection.sql<{ nonces: number }[]>`
    select count(distinct t.nonce)::int as nonces from service.transaction t where t.errand_id is not null
    group by t.errand_id`;
  expect(rows.map(({ nonces }) => nonces)).toEqual(rows.map(() => 1));
  expect(rows).toHaveLength(fates.length * 2 * 2);
});
