/** Main chain and testnet with api and writer, for faults of sandbox and faucet. Tests make the testnet's node fail. */
import { randomBytes } from "node:crypto";
import { type Address, getAddress, type Hex } from "viem";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { STATUS, statusOf } from "../../api/support/faucet.ts";
import { startChain, startTestnet, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

export type TestnetSetup = {
  readonly main: TestChain;
  readonly testnet: TestChain;
  /** Between the writer and the testnet; with `apiThroughProxy` also between the api and the testnet. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  /** One request to the api; the answer is checked against the OpenAPI document. */
  readonly request: CheckedRequest;
  readonly connection: Connection;
};

export type TestnetSetupOptions = {
  /** The writer has the wallet keys of these parts. */
  readonly parts: "faucet" | "sandbox" | "both";
  /** The api also reaches the testnet through the proxy. */
  readonly apiThroughProxy?: boolean;
  /** A database on the test's own server. Default: a new one on the run's server. */
  readonly databaseUrl?: string;
  /** False keeps queues and limits on Postgres in every run. */
  readonly redis?: boolean;
  /** The writer is a keeper of the main chain too, beside an indexer. */
  readonly keeper?: boolean;
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

/** How long a call waits for its result, in ms: short, so that tests see calls that time out. */
const WAIT_MS = 2000;

/** Options of each stack on these chains. The api trusts `X-Forwarded-For` from a proxy on this machine. */
export const stackOptions = (
  main: TestChain,
  testnet: TestChain,
  { parts, redis, keeper = false, env }: TestnetSetupOptions,
): StackOptions => ({
  chain: main,
  testnet,
  testnetKeys: {
    ...(parts === "sandbox" ? { faucet: null } : {}),
    ...(parts === "faucet" ? { sandbox: null, relayers: [] } : {}),
  },
  services: keeper ? ["indexer", "api", "writer"] : ["api", "writer"],
  keeper,
  redis,
  env: {
    api: { PURCHASE_WAIT_MS: String(WAIT_MS), TRUST_PROXY: "loopback", ...env?.api },
    writer: { CONFIRMATIONS: "3", ...env?.writer },
  },
});

export async function startTestnetSetup(options: TestnetSetupOptions): Promise<TestnetSetup> {
  const everySecond = { blockTime: 1, mixedMining: true };
  const [main, testnet] = await Promise.all([
    // Without a keeper nothing waits for the main chain's next block.
    startChain(options.keeper ? everySecond : {}),
    startTestnet(everySecond),
  ]);
  const proxy = await startRpcProxy(testnet.url);
  const { env, ...common } = stackOptions(main, testnet, options);
  const stack = await startStack({
    ...common,
    databaseUrl: options.databaseUrl,
    testnetRpcUrl: proxy.url,
    env: options.apiThroughProxy ? env : { ...env, api: { ...env?.api, TESTNET_RPC_URL: testnet.url } },
  });
  const connection = connect(stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const request = await checkedRequests(stack.apiUrl);
  if (options.parts !== "sandbox") {
    await waitFor({
      what: "the faucet to be ready",
      probe: async () => (statusOf(await request(STATUS)).status === "ready" ? true : undefined),
    });
  }
  return { main, testnet, proxy, stack, request, connection };
}

/** A wallet and an IP address that have made no call yet. */
export type NewClient = { readonly wallet: Address; readonly ip: string };

export const randomWallet = (): Address => getAddress(`0x${randomBytes(20).toString("hex")}` satisfies Hex);

let clients = 0;
export function newClient(): NewClient {
  clients += 1;
  return { wallet: randomWallet(), ip: `198.18.${clients >> 8}.${clients & 255}` };
}

export const newClients = (count: number): NewClient[] => Array.from({ length: count }, newClient);

export type ChainAndDatabase = Pick<TestnetSetup, "testnet" | "connection">;

/** Mines until every purchase, transfer and transaction on the testnet is final: nothing is sent afterwards. */
export async function mineUntilFinal({ testnet, connection }: ChainAndDatabase): Promise<void> {
  const { chainId } = testnet.deployment;
  await waitFor({
    what: "everything on the testnet to be final",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.service_transaction_progress where chain_id = ${chainId} and final_at is null
        union all select 1 from service.purchase_progress where chain_id = ${chainId} and final_at is null
        union all select 1 from service.transaction where chain_id = ${chainId} and state = 'open' limit 1`;
      if (rows.length === 0) return true;
      await testnet.client.mine({ blocks: 1 });
      return undefined;
    },
    intervalMs: 150,
  });
}
