/** Clients of the sandbox that retry, and a check of their purchases against the chain. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { serviceWallets } from "../../../scripts/local/service-wallets.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { policiesOnChain } from "../../support/ledger.ts";
import { expectNoNonceGaps } from "./assertions.ts";
import { type ChainAndDatabase, mineUntilFinal, newClient, type TestnetSetup } from "./testnet-setup.ts";

/** Pays for the sandbox's policies and owns them. */
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
export type SandboxPurchase = z.output<typeof result>;
export const parsePurchase = (answer: HttpAnswer): SandboxPurchase => result.parse(answer.json);

type Api = Pick<TestnetSetup, "request">;
export type Call = { readonly ip: string; readonly key: string };

let calls = 0;
/** Calls with an idempotency key each, all from different addresses. */
export const severalCalls = (count: number): Call[] =>
  Array.from({ length: count }, () => {
    calls += 1;
    return { ip: newClient().ip, key: `call-${calls}` };
  });

export const tryOnce = ({ request }: Api, { ip, key }: Call): Promise<HttpAnswer> =>
  request("/sandbox/try", {
    method: "POST",
    headers: { "x-forwarded-for": ip, "idempotency-key": key },
  });

const RETRY_MS = 300;
const TIMEOUT_MS = 300_000;

/** Retries under the same key until there is a policy. @throws at the timeout, and on an answer other than 200 and 503 */
export async function tryUntilBought(api: Api, call: Call): Promise<SandboxPurchase> {
  const seen: string[] = [];
  const until = performance.now() + TIMEOUT_MS;
  while (performance.now() < until) {
    const answer = await tryOnce(api, call).catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else {
      if (answer.status === 200) return parsePurchase(answer);
      seen.push(`${answer.status} ${answer.text.slice(0, 120)}`);
      if (answer.status !== 503) break;
    }
    await sleep(RETRY_MS);
  }
  throw new Error(`no policy for ${call.key}: ${seen.join("; ")}`);
}

/** Since `fromBlock` the sandbox bought one policy for each of these purchases and no other, and every nonce is used. */
export async function expectBoughtOnce(
  setup: ChainAndDatabase,
  purchases: readonly SandboxPurchase[],
  fromBlock: bigint,
): Promise<void> {
  await mineUntilFinal(setup);
  const onChain = (await policiesOnChain(setup.testnet, sandboxWallet))
    .filter(({ blockNumber }) => blockNumber >= fromBlock)
    .map(({ transactionHash, args }) => ({
      txHash: transactionHash,
      policyId: String(args.policyId),
      coverageAmount: String(args.coverage),
      premiumPaid: String(args.premium),
    }));
  const received = purchases.map(({ txHash, policyId, coverageAmount, premiumPaid }) => ({
    txHash,
    policyId,
    coverageAmount,
    premiumPaid,
  }));
  const byHash = (a: { txHash: string }, b: { txHash: string }) => a.txHash.localeCompare(b.txHash);
  expect(received.toSorted(byHash)).toEqual(onChain.toSorted(byHash));
  await expectNoNonceGaps({ chain: setup.testnet, connection: setup.connection });
}

/** The number of the next block. */
export const nextBlock = async ({ testnet }: ChainAndDatabase): Promise<bigint> =>
  (await testnet.client.getBlockNumber()) + 1n;

/** Waits until the sandbox's wallet is funded: buys one policy. */
export async function waitUntilSandboxReady(setup: TestnetSetup): Promise<void> {
  const [call] = severalCalls(1);
  if (call) await tryUntilBought(setup, call);
  await mineUntilFinal(setup);
}
