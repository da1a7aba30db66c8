/** One chain with the service on it, whose processes, node and servers can be made to fail, and its buyers. */
import { anvilAccount } from "../../../lib/chain/client.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import type { ServiceName } from "../../../scripts/dev/services.ts";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import { type Buyer, createBuyer } from "../../api/support/buyer.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, startStack } from "../../support/stack.ts";

export type World = {
  readonly chain: TestChain;
  readonly protocol: Protocol;
  /** Between the writer and the chain, and between the api and the chain where that was asked for. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly buyers: readonly Buyer[];
};

export type WorldOptions = {
  readonly buyers?: number;
  /** The api too talks to the chain by way of the proxy. */
  readonly apiThroughProxy?: boolean;
  /** Of a server of the test's own; a database on the run's when left out. */
  readonly databaseUrl?: string;
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

/** The wallets that send. */
export const relayers = [anvilAccount(1), anvilAccount(2)] as const;

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { buyers: count = 1, apiThroughProxy = false, databaseUrl, env } = options;
  const chain = await startChain({ blockTime: 1, mixedMining: true, relayers });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    databaseUrl,
    services: ["api", "writer"],
    relayerKeys: relayers.map(privateKeyOf),
    env: {
      api: { ...(apiThroughProxy ? { RPC_URL: proxy.url } : {}), ...env?.api },
      writer: { RPC_URL: proxy.url, CONFIRMATIONS: "3", ...env?.writer },
    },
  });
  const connection = connect(stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const protocol = openProtocol(chain.deployment, chain.url);
  // Not held to the document, which a killed api cannot serve: the tests of the answers do that.
  const api = { chain, stack, protocol, request: stack.request };
  const buyers: Buyer[] = [];
  for (let n = 0; n < count; n += 1) buyers.push(await createBuyer(api, anvilAccount(3 + n)));
  return { chain, protocol, proxy, stack, connection, buyers };
}

/** Several purchases at once, each under a key of its own that begins with `name`, the buyers in turn. */
export function severalPurchases(
  { buyers }: World,
  name: string,
  count: number,
): { buyer: number; key: string }[] {
  return Array.from({ length: count }, (_, n) => ({ buyer: n % buyers.length, key: `${name}-${n}` }));
}
