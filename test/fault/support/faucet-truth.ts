/** Claims of the faucet by patient clients, and what the chain says was paid. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, type Hex, isAddressEqual, parseAbiItem, zeroAddress } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import type { HttpAnswer } from "../../support/http.ts";
import { atRest, type Books, type Newcomer, type TestnetWorld } from "./testnet-world.ts";
import { expectNoGaps } from "./truth.ts";

/** The grant by the specification, in wei and with 6 decimals. */
export const GRANT = { ether: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

const result = z.object({
  success: z.literal(true),
  ethTxHash: z.custom<Hex>(),
  usdcTxHash: z.custom<Hex>(),
  ethAmount: z.literal("0.05"),
  usdcAmount: z.literal("10000"),
  mockUsdcAddress: z.string(),
  nextEligibleAt: z.iso.datetime(),
});
export type Granted = z.output<typeof result>;
export const grantedIn = (answer: HttpAnswer): Granted => result.parse(answer.json);

type Claims = Pick<TestnetWorld, "request">;

/** One call, as a proxy on this machine would pass it on. */
export const claim = ({ request }: Claims, { wallet, from }: Newcomer): Promise<HttpAnswer> =>
  request("/api/v1/faucet/claim", { headers: { "x-forwarded-for": from }, body: { wallet } });

const codeOf = (answer: HttpAnswer) => z.object({ error: z.string() }).safeParse(answer.json).data?.error;

/** What a client saw, as `status code`, `200` and what it was granted last. */
export type Told = { readonly seen: readonly string[]; readonly granted: Granted };

const AGAIN_MS = 300;
const PATIENCE_MS = 75_000;

/**
 * Calls again and again until the grant is there: what was answered with 503, or never, and 429 too, which a call is told
 * while an earlier one of the same client still waits. @throws when the time is up
 */
export async function claimPatiently(world: Claims, who: Newcomer): Promise<Told> {
  const seen: string[] = [];
  const until = performance.now() + PATIENCE_MS;
  while (performance.now() < until) {
    const answer = await claim(world, who).catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else if (answer.status === 200) return { seen: [...seen, "200"], granted: grantedIn(answer) };
    else seen.push(`${answer.status} ${codeOf(answer)}`);
    await sleep(AGAIN_MS);
  }
  throw new Error(`no grant for ${who.wallet} of ${who.from}: ${seen.join("; ")}`);
}

const minted = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");

/** What the chain says an account was given: all its ether, and each minting of USDC. */
export async function paidOnChain({ testnet }: Pick<TestnetWorld, "testnet">, wallet: Address) {
  const [ether, mintings] = await Promise.all([
    testnet.client.getBalance({ address: wallet }),
    testnet.client.getLogs({
      address: testnet.deployment.contracts.usdc,
      event: minted,
      args: { from: zeroAddress, to: wallet },
      fromBlock: 0n,
      strict: true,
    }),
  ]);
  return { ether, usdc: mintings.map(({ args }) => args.value) };
}

export const ONCE = { ether: GRANT.ether, usdc: [GRANT.usdc] };
export const NOTHING = { ether: 0n, usdc: [] };

/** Each of the wallets has both transfers and each once, all others nothing, and no nonce was left out. */
export async function expectPaidOnce(
  world: Books,
  paid: readonly Address[],
  unpaid: readonly Address[] = [],
): Promise<void> {
  await atRest(world);
  for (const wallet of paid) expect(await paidOnChain(world, wallet), `grant of ${wallet}`).toEqual(ONCE);
  for (const wallet of unpaid)
    expect(await paidOnChain(world, wallet), `grant of ${wallet}`).toEqual(NOTHING);
  await expectNoGaps({ chain: world.testnet, connection: world.connection });
}

/** The two hashes that a client was told are its grant on the chain. */
export async function expectTruth({ testnet }: Books, { wallet }: Newcomer, granted: Granted): Promise<void> {
  const { client, deployment } = testnet;
  const [ether, usdc, receipts] = await Promise.all([
    client.getTransaction({ hash: granted.ethTxHash }),
    client.getTransaction({ hash: granted.usdcTxHash }),
    Promise.all(
      [granted.ethTxHash, granted.usdcTxHash].map((hash) => client.getTransactionReceipt({ hash })),
    ),
  ]);
  expect(receipts.map(({ status }) => status)).toEqual(["success", "success"]);
  expect([ether.to && isAddressEqual(ether.to, wallet), ether.value]).toEqual([true, GRANT.ether]);
  expect(usdc.to && isAddressEqual(usdc.to, deployment.contracts.usdc)).toBe(true);
  expect(usdc.input.toLowerCase()).toContain(wallet.slice(2).toLowerCase());
}
