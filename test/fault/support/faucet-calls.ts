/** Clients of the faucet that retry, and checks of their grants against the chain. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, type Hex, isAddressEqual, parseAbiItem, zeroAddress } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { waitFor } from "../../../scripts/local/wait.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { expectNoNonceGaps } from "./assertions.ts";
import { type ChainAndDatabase, mineUntilFinal, type NewClient, type TestnetSetup } from "./testnet-setup.ts";

/** The specified grant: ether in wei, USDC with 6 decimals. */
const GRANT = { ether: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

const result = z.object({
  success: z.literal(true),
  ethTxHash: z.custom<Hex>(),
  usdcTxHash: z.custom<Hex>(),
  ethAmount: z.literal("0.05"),
  usdcAmount: z.literal("10000"),
  mockUsdcAddress: z.string(),
  nextEligibleAt: z.iso.datetime(),
});
export type Grant = z.output<typeof result>;
export const parseGrant = (answer: HttpAnswer): Grant => result.parse(answer.json);

type Api = Pick<TestnetSetup, "request">;

/** One call, as a proxy on this machine would forward it. */
export const claim = ({ request }: Api, { wallet, ip }: NewClient): Promise<HttpAnswer> =>
  request("/api/v1/faucet/claim", { headers: { "x-forwarded-for": ip }, body: { wallet } });

const codeOf = (answer: HttpAnswer) => z.object({ error: z.string() }).safeParse(answer.json).data?.error;

/** The answers to a client's calls, as `status code`; the last one is `200` with the grant. */
export type ClaimResult = { readonly seen: readonly string[]; readonly grant: Grant };

const RETRY_MS = 300;
const TIMEOUT_MS = 300_000;

/**
 * Retries until there is a grant: after connection errors, and after any other answer, since a call gets 429 while an
 * earlier one of the same client still waits. @throws at the timeout
 */
export async function claimUntilPaid(api: Api, client: NewClient): Promise<ClaimResult> {
  const seen: string[] = [];
  const until = performance.now() + TIMEOUT_MS;
  while (performance.now() < until) {
    const answer = await claim(api, client).catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else if (answer.status === 200) return { seen: [...seen, "200"], grant: parseGrant(answer) };
    else seen.push(`${answer.status} ${codeOf(answer)}`);
    await sleep(RETRY_MS);
  }
  throw new Error(`no grant for ${client.wallet} from ${client.ip}: ${seen.join("; ")}`);
}

/** Repeats a call that claimed nothing because a busy writer is behind or has just lost its lease. Resolves to the answer. */
export const claimOnceAvailable = (api: Api, client: NewClient): Promise<HttpAnswer> =>
  waitFor({
    what: "a writer that serves the faucet",
    probe: async () => {
      const answer = await claim(api, client);
      return codeOf(answer) === "relayer_unavailable" ? undefined : answer;
    },
    intervalMs: RETRY_MS,
  });

const transferEvent = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");

/** An account's payments on the chain: its ether balance, and each mint of USDC. */
export async function paidOnChain({ testnet }: Pick<TestnetSetup, "testnet">, wallet: Address) {
  const [ether, mints] = await Promise.all([
    testnet.client.getBalance({ address: wallet }),
    testnet.client.getLogs({
      address: testnet.deployment.contracts.usdc,
      event: transferEvent,
      args: { from: zeroAddress, to: wallet },
      fromBlock: 0n,
      strict: true,
    }),
  ]);
  return { ether, usdc: mints.map(({ args }) => args.value) };
}

export const ONCE = { ether: GRANT.ether, usdc: [GRANT.usdc] };
export const NOTHING = { ether: 0n, usdc: [] };

/** Each wallet in `paid` has both transfers once, each in `unpaid` has nothing, and every nonce is used. */
export async function expectPaidOnce(
  setup: ChainAndDatabase,
  paid: readonly Address[],
  unpaid: readonly Address[] = [],
): Promise<void> {
  await mineUntilFinal(setup);
  for (const wallet of paid) expect(await paidOnChain(setup, wallet), `grant of ${wallet}`).toEqual(ONCE);
  for (const wallet of unpaid)
    expect(await paidOnChain(setup, wallet), `grant of ${wallet}`).toEqual(NOTHING);
  await expectNoNonceGaps({ chain: setup.testnet, connection: setup.connection });
}

/** The two hashes in a client's grant are its two transfers on the chain. */
export async function expectGrantMined(
  { testnet }: ChainAndDatabase,
  { wallet }: NewClient,
  grant: Grant,
): Promise<void> {
  const { client, deployment } = testnet;
  const [ether, usdc, receipts] = await Promise.all([
    client.getTransaction({ hash: grant.ethTxHash }),
    client.getTransaction({ hash: grant.usdcTxHash }),
    Promise.all([grant.ethTxHash, grant.usdcTxHash].map((hash) => client.getTransactionReceipt({ hash }))),
  ]);
  expect(receipts.map(({ status }) => status)).toEqual(["success", "success"]);
  expect([ether.to && isAddressEqual(ether.to, wallet), ether.value]).toEqual([true, GRANT.ether]);
  expect(usdc.to && isAddressEqual(usdc.to, deployment.contracts.usdc)).toBe(true);
  expect(usdc.input.toLowerCase()).toContain(wallet.slice(2).toLowerCase());
}
