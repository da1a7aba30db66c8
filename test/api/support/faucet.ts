/** Starts the api, and the writer unless omitted, with a main chain and a testnet; faucet clients differ by address. */
import postgres from "postgres";
import { type Address, isAddressEqual } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import type { HttpAnswer, HttpRequest } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";
import { repeatWhile } from "./api.ts";

export const CLAIM = "/api/v1/faucet/claim";
export const STATUS = "/api/v1/faucet/status";
/** What a paid claim gets. */
export const GRANT = { wei: 50_000_000_000_000_000n, usdc: 10_000_000_000n };

export type TestFaucet = {
  readonly chain: TestChain;
  readonly testnet: TestChain;
  readonly stack: Stack;
  readonly sql: postgres.Sql;
  readonly request: CheckedRequest;
  /** Sends a claim from this client address; address and wallet are new if omitted. */
  readonly claim: (options?: {
    wallet?: string;
    from?: string;
    request?: HttpRequest;
  }) => Promise<HttpAnswer>;
  /** Lifts the limits of all claims so far. */
  readonly forgetClaims: () => Promise<void>;
};

export const newWallet = (): Address => privateKeyToAccount(generatePrivateKey()).address;

let clients = 0;
export const newClientAddress = (): string => {
  clients += 1;
  return `198.51.${Math.floor(clients / 250)}.${(clients % 250) + 1}`;
};

/** Trusts the X-Forwarded-For header of a proxy on this machine. */
export async function startFaucet({
  env = {},
  services = ["api", "writer"],
  ...more
}: Omit<StackOptions, "chain" | "testnet"> = {}): Promise<TestFaucet> {
  const [chain, testnet] = await Promise.all([startChain(), startTestnet()]);
  const stack = await startStack({
    chain,
    testnet,
    services,
    ...more,
    env: { ...env, api: { TRUST_PROXY: "loopback", ...env.api } },
  });
  const sql = postgres(stack.databaseUrl, { max: 2, onnotice: () => {} });
  atEnd(() => sql.end());
  const request = await checkedRequests(stack.apiUrl);
  if (services.includes("writer")) {
    await waitFor({
      what: "the faucet to be ready",
      probe: async () => (statusOf(await request(STATUS)).status === "ready" ? true : undefined),
    });
    await waitFor({
      what: "the writer's first block, without which a claim gets 503",
      probe: async () => (await sql`select from service.watched_block where chain_id = 84532`)[0] && true,
    });
  }
  return {
    chain,
    testnet,
    stack,
    sql,
    request,
    claim: ({ wallet = newWallet(), from = newClientAddress(), request: options = {} } = {}) =>
      request(CLAIM, {
        body: { wallet },
        ...options,
        headers: { "x-forwarded-for": from, ...options.headers },
      }),
    async forgetClaims() {
      await sql`truncate service.faucet_slot, service.faucet_day`;
      await sql`update service.faucet_claim set claimed_at = claimed_at - interval '2 days'`;
    },
  };
}

const paid = z.object({
  success: z.literal(true),
  ethTxHash: z.string(),
  usdcTxHash: z.string(),
  ethAmount: z.string(),
  usdcAmount: z.string(),
  mockUsdcAddress: z.string(),
  nextEligibleAt: z.iso.datetime(),
});
export const grantOf = (answer: HttpAnswer) => paid.parse(answer.json);

const status = z.object({
  enabled: z.boolean(),
  status: z.string(),
  reason: z.string().nullable(),
  relayerEthBalance: z.string(),
  claimsLast24h: z.number(),
  claimsToday: z.number(),
});
export const statusOf = (answer: HttpAnswer) => status.parse(answer.json);

export const retryAfter = (answer: HttpAnswer): number =>
  Number(answer.headers.get("retry-after") ?? Number.NaN);

const usdcAbi = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ type: "address" }],
    outputs: [{ type: "uint256" }],
  },
] as const;

/** A wallet's ether and USDC, read from the chain. */
export async function balancesOf({ testnet }: Pick<TestFaucet, "testnet">, wallet: Address) {
  const { client, deployment } = testnet;
  const [wei, usdc] = await Promise.all([
    client.getBalance({ address: wallet }),
    client.readContract({
      address: deployment.contracts.usdc,
      abi: usdcAbi,
      functionName: "balanceOf",
      args: [wallet],
    }),
  ]);
  return { wei, usdc };
}

/** Counts the faucet's mined transactions to a wallet by reading every block. */
export async function countTransfersTo(
  { testnet }: Pick<TestFaucet, "testnet">,
  wallet: Address,
): Promise<number> {
  const { client } = testnet;
  const head = await client.getBlockNumber();
  const blocks = await Promise.all(
    Array.from({ length: Number(head) + 1 }, (_, number) =>
      client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
    ),
  );
  return blocks
    .flatMap(({ transactions }) => transactions)
    .filter(
      ({ to, input }) =>
        (to && isAddressEqual(to, wallet)) || input.includes(wallet.slice(2).toLowerCase().padStart(64, "0")),
    ).length;
}

/** A wallet and a client address that have not claimed yet. */
export const newClaimant = () => ({ wallet: newWallet(), from: newClientAddress() });

/** Claims, and repeats the claim while its result may still come: a busy machine's relayer or chain may be slow. */
export const claimOnce = (faucet: TestFaucet, claimant = newClaimant()): Promise<HttpAnswer> =>
  repeatWhile(["relayer_unavailable", "claim_pending"], () => faucet.claim(claimant));
