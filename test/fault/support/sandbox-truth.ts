/** Purchases of the sandbox by patient clients, and what the chain says was bought. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { serviceWallets } from "../../../scripts/dev/wallets.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { policiesOnChain } from "../../support/ledger.ts";
import { atRest, type Books, newcomer, type TestnetWorld } from "./testnet-world.ts";
import { expectNoGaps } from "./truth.ts";

/** Who pays, and owns what is bought. */
export const sandboxWallet: Address = serviceWallets.sandbox.address;

const result = z.object({
  ok: z.literal(true),
  sandbox: z.literal(true),
  policyId: z.string(),
  buyer: z.string(),
  coverageAmount: z.literal("100000000"),
  premiumPaid: z.string(),
  txHash: z.string(),
  blockExplorer: z.string(),
});
export type Bought = z.output<typeof result>;
export const boughtIn = (answer: HttpAnswer): Bought => result.parse(answer.json);

type Calls = Pick<TestnetWorld, "request">;
export type Call = { readonly from: string; readonly key: string };

let calls = 0;
/** Calls under keys of their own, each from another address. */
export const severalCalls = (count: number): Call[] =>
  Array.from({ length: count }, () => {
    calls += 1;
    return { from: newcomer().from, key: `call-${calls}` };
  });

export const tryOnce = ({ request }: Calls, { from, key }: Call): Promise<HttpAnswer> =>
  request("/sandbox/try", {
    method: "POST",
    headers: { "x-forwarded-for": from, "idempotency-key": key },
  });

const AGAIN_MS = 300;
const PATIENCE_MS = 75_000;

/** Calls again and again, under the same key, until there is a policy. @throws when the time is up, or nothing will help */
export async function tryPatiently(world: Calls, call: Call): Promise<Bought> {
  const seen: string[] = [];
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const answer = await tryOnce(world, call).catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else {
      if (answer.status === 200) return boughtIn(answer);
      seen.push(`${answer.status} ${answer.text.slice(0, 120)}`);
      if (answer.status !== 503) break;
    }
    await sleep(AGAIN_MS);
  }
  throw new Error(`no policy for ${call.key}: ${seen.join("; ")}`);
}

/** Each purchase that was told of is one policy of the sandbox's since a block, there are no others, and no nonce is left out. */
export async function expectBoughtOnce(
  world: Books,
  bought: readonly Bought[],
  fromBlock: bigint,
): Promise<void> {
  await atRest(world);
  const found = (await policiesOnChain(world.testnet, sandboxWallet))
    .filter(({ blockNumber }) => blockNumber >= fromBlock)
    .map(({ transactionHash, args }) => ({
      txHash: transactionHash,
      policyId: String(args.policyId),
      coverageAmount: String(args.coverage),
      premiumPaid: String(args.premium),
    }));
  const told = bought.map(({ txHash, policyId, coverageAmount, premiumPaid }) => ({
    txHash,
    policyId,
    coverageAmount,
    premiumPaid,
  }));
  const byHash = (a: { txHash: string }, b: { txHash: string }) => a.txHash.localeCompare(b.txHash);
  expect(told.toSorted(byHash)).toEqual(found.toSorted(byHash));
  await expectNoGaps({ chain: world.testnet, connection: world.connection });
}

/** The number of the block that comes next. */
export const nextBlock = async ({ testnet }: Books): Promise<bigint> =>
  (await testnet.client.getBlockNumber()) + 1n;

/** Waits until the sandbox's wallet was given what it needs, by a purchase. */
export async function sandboxReady(world: TestnetWorld): Promise<void> {
  const [call] = severalCalls(1);
  if (call) await tryPatiently(world, call);
  await atRest(world);
}
