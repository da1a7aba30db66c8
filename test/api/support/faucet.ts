/** The api, and the writer unless left out, with a testnet of their own; and clients of the faucet, by address. */
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

export const CLAIM = "/api/v1/faucet/claim";
export const STATUS = "/api/v1/faucet/status";

export type FaucetWorld = {
  readonly chain: TestChain;
  readonly testnet: TestChain;
  readonly stack: Stack;
  readonly sql: postgres.Sql;
  readonly request: CheckedRequest;
  /** A claim from a client of this address; a fresh one, and a fresh wallet, when left out. */
  readonly claim: (options?: {
    wallet?: string;
    from?: string;
    request?: HttpRequest;
  }) => Promise<HttpAnswer>;
  /** Forgets all claims. */
  readonly reset: () => Promise<void>;
};

export const newWallet = (): Address => privateKeyToAccount(generatePrivateKey()).address;

let clients = 0;
export const newClient = (): string => {
  clients += 1;
  return `198.51.${Math.floor(clients / 250)}.${(clients % 250) + 1}`;
};

/** Believes what a proxy on this machine says of its clients. */
export async function startFaucet({
  env = {},
  services = ["api", "writer"],
  ...more
}: Omit<StackOptions, "chain" | "testnet"> = {}): Promise<FaucetWorld> {
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
      timeoutMs: 60_000,
    });
  }
  return {
    chain,
    testnet,
    stack,
    sql,
    request,
    claim: ({ wallet = newWallet(), from = newClient(), request: options = {} } = {}) =>
      request(CLAIM, {
        body: { wallet },
        ...options,
        headers: { "x-forwarded-for": from, ...options.headers },
      }),
    async reset() {
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
export const paidOf = (answer: HttpAnswer) => paid.parse(answer.json);

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

/** What the chain says that a wallet has. */
export async function holdings({ testnet }: Pick<FaucetWorld, "testnet">, wallet: Address) {
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

/** The faucet's transactions to a wallet that are in a block, found in the blocks themselves. */
export async function transfersTo(
  { testnet }: Pick<FaucetWorld, "testnet">,
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
