/** One chain with the service on it, whose processes can be killed, and its buyers. */

import { anvilAccount } from "../../lib/chain/client.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { privateKeyOf } from "../../lib/local/anvil.ts";
import { openProtocol } from "../../lib/protocol/actions/index.ts";
import { type Buyer, createBuyer } from "../api/support/buyer.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { BUYERS } from "./plan.ts";

export type World = {
  readonly chain: TestChain;
  /** Between the writer and the chain. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly buyers: readonly Buyer[];
};

const relayers = [anvilAccount(1), anvilAccount(2)];

export async function startWorld({ redis = false } = {}): Promise<World> {
  const chain = await startChain({ blockTime: 1, mixedMining: true, relayers });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    redis,
    services: ["api", "writer"],
    relayerKeys: relayers.map(privateKeyOf),
    env: { writer: { RPC_URL: proxy.url, CONFIRMATIONS: "3" } },
  });
  const connection = connect(stack.databaseUrl, { name: "soak" });
  atEnd(() => connection.close());
  const api = {
    chain,
    stack,
    protocol: openProtocol(chain.deployment, chain.url),
    // Not held to the document, which a killed api cannot serve: the tests of the answers do that.
    request: stack.request,
  };
  const buyers: Buyer[] = [];
  for (let n = 0; n < BUYERS; n += 1) buyers.push(await createBuyer(api, anvilAccount(3 + n)));
  return { chain, proxy, stack, connection, buyers };
}
