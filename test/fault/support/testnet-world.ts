/** Both chains with the service on them, for the faults of sandbox and faucet: the node of the testnet can be made to fail. */
import { randomBytes } from "node:crypto";
import { type Address, getAddress, type Hex } from "viem";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import type { ServiceName } from "../../../scripts/dev/services.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, startTestnet, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

export type TestnetWorld = {
  readonly main: TestChain;
  readonly testnet: TestChain;
  /** Between the writer and the testnet, and between the api and it where that was asked for. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  /** One request to the api; its answer is held to the document. */
  readonly request: CheckedRequest;
  readonly connection: Connection;
};

export type TestnetWorldOptions = {
  /** What else beside the faucet's wallet the writer has keys of. */
  readonly parts: "faucet" | "sandbox" | "both";
  /** The api too talks to the testnet by way of the proxy. */
  readonly apiThroughProxy?: boolean;
  /** Of a server of the test's own; a database on the run's when left out. */
  readonly databaseUrl?: string;
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

/** How long a call waits for what it asked for, in ms: short, so that tests see a call that outlasts its wait. */
export const WAIT_MS = 2000;

/** What every stack of these worlds is made with; the api believes what a proxy on this machine says of its clients. */
export const stackOptions = (
  main: TestChain,
  testnet: TestChain,
  { parts, env }: TestnetWorldOptions,
): StackOptions => ({
  chain: main,
  testnet,
  testnetKeys: {
    ...(parts === "sandbox" ? { faucet: null } : {}),
    ...(parts === "faucet" ? { sandbox: null, relayers: [] } : {}),
  },
  services: ["api", "writer"],
  env: {
    api: { PURCHASE_WAIT_MS: String(WAIT_MS), TRUST_PROXY: "loopback", ...env?.api },
    writer: { CONFIRMATIONS: "3", ...env?.writer },
  },
});

export async function startChains(): Promise<{ main: TestChain; testnet: TestChain }> {
  const [main, testnet] = await Promise.all([
    startChain({ blockTime: 1, mixedMining: true }),
    startTestnet({ blockTime: 1, mixedMining: true }),
  ]);
  return { main, testnet };
}

export async function startTestnetWorld(options: TestnetWorldOptions): Promise<TestnetWorld> {
  const { main, testnet } = await startChains();
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
  return { main, testnet, proxy, stack, request: await checkedRequests(stack.apiUrl), connection };
}

/** Somebody who was never here, at an address where nobody was. */
export type Newcomer = { readonly wallet: Address; readonly from: string };

export const randomWallet = (): Address => getAddress(`0x${randomBytes(20).toString("hex")}` satisfies Hex);

let arrivals = 0;
export function newcomer(): Newcomer {
  arrivals += 1;
  return { wallet: randomWallet(), from: `198.18.${arrivals >> 8}.${arrivals & 255}` };
}

export const newcomers = (count: number): Newcomer[] => Array.from({ length: count }, newcomer);

/** Where to look for what became of something. */
export type Books = Pick<TestnetWorld, "testnet" | "connection">;

/** Waits until nothing of the testnet is on its way any more, and mines meanwhile: what was not paid by then never is. */
export async function atRest({ testnet, connection }: Books, timeoutMs = 60_000): Promise<void> {
  const { chainId } = testnet.deployment;
  await waitFor({
    what: "nothing to be on its way on the testnet",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.errand where chain_id = ${chainId} and final_at is null
        union all select 1 from service.purchase where chain_id = ${chainId} and final_at is null
        union all select 1 from service.transaction where chain_id = ${chainId} and state = 'open' limit 1`;
      if (rows.length === 0) return true;
      await testnet.client.mine({ blocks: 1 });
      return undefined;
    },
    timeoutMs,
    intervalMs: 150,
  });
}
