/** The dev stack that runs on this machine, as `npm run demo` and `npm run dev:price` find it. */
import { createWalletClient, type LocalAccount, publicActions, testActions } from "viem";
import { z } from "zod";
import { createReadClient, isAnvil } from "../../lib/chain/client.ts";
import { errorText } from "../../lib/log.ts";
import type { Api } from "../demo/api-client.ts";
import { toNode } from "../local/to-node.ts";

export type StackUrls = {
  readonly apiUrl: string;
  readonly rpcUrl: string;
  readonly testnetRpcUrl: string;
};

/** `API_URL`, `RPC_URL` and `TESTNET_RPC_URL`; where one is not set, the default address of `npm run dev`. */
export const stackUrls = (env: Readonly<Record<string, string | undefined>>): StackUrls => ({
  apiUrl: env.API_URL || "http://127.0.0.1:8080",
  rpcUrl: env.RPC_URL || "http://127.0.0.1:8545",
  testnetRpcUrl: env.TESTNET_RPC_URL || "http://127.0.0.1:8546",
});

/** An account on the main chain: it reads, sends, and moves the local clock. */
export const openWallet = (rpcUrl: string, account: LocalAccount) =>
  createWalletClient({ account, transport: toNode(rpcUrl), pollingInterval: 100, cacheTime: 0 })
    .extend(publicActions)
    .extend(testActions({ mode: "anvil" }));
export type Wallet = ReturnType<typeof openWallet>;

const address = z.templateLiteral(["0x", z.string().length(40)]);
const health = z.object({
  chain: z.object({ chainId: z.int() }),
  contracts: z.object({
    ...{ coverRouter: address, policyManager: address, usdc: address, claimBond: address },
    ...{ btcUsdFeed: address, ethUsdFeed: address },
  }),
});

const start = "`npm run dev` or `npm run fork` starts a stack; API_URL and RPC_URL say where another one is.";

/**
 * Finds the stack's chain and contracts.
 * @param quiet does not print the call
 * @throws when api or node do not answer, when they belong to different chains, and when the chain is not anvil's
 */
export async function findStack(
  api: Api,
  { apiUrl, rpcUrl }: StackUrls,
  { quiet = false }: { readonly quiet?: boolean } = {},
) {
  const away = (what: string) => (error: unknown) => {
    throw new Error(`${what} does not answer (${errorText(error)}). ${start}`, { cause: error });
  };
  const answer = await api.ask("/health", { quiet }).catch(away(`The api at ${apiUrl}`));
  const { chain, contracts } = health.parse(answer.body);
  const client = createReadClient({ chainId: chain.chainId, name: "dev stack" }, rpcUrl);
  const chainId = await client.getChainId().catch(away(`The node at ${rpcUrl}`));
  if (chainId !== chain.chainId)
    throw new Error(
      `${rpcUrl} is chain ${chainId}, and the api at ${apiUrl} serves ${chain.chainId}; set RPC_URL`,
    );
  if (!(await isAnvil(client)))
    throw new Error(
      `The node at ${rpcUrl} is not anvil: this command is for the local chain of \`npm run dev\` or \`npm run fork\` only.`,
    );
  return { chainId, contracts };
}

export type StackContracts = Awaited<ReturnType<typeof findStack>>["contracts"];
