/** A chain, the indexer, and a writer with the keeper. Tests let prices fall, and make processes and nodes fail. */

import { type Connection, connect } from "../../../lib/db/connect.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import { serviceWallets } from "../../../scripts/local/service-wallets.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, type StackOptions, startStack } from "../../support/stack.ts";

export type KeeperSetup = {
  readonly chain: TestChain;
  readonly protocol: Protocol;
  /** Between the writer and the chain. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  readonly connection: Connection;
};

export type KeeperSetupOptions = {
  readonly services?: readonly ServiceName[];
  readonly env?: StackOptions["env"];
  /** Seconds between two blocks; null mines a block for each transaction alone. */
  readonly blockTime?: number | null;
};

export const keeperWallet = serviceWallets.keeper;

export async function startKeeperSetup(options: KeeperSetupOptions = {}): Promise<KeeperSetup> {
  const { services = ["indexer", "writer"], env, blockTime = 1 } = options;
  const chain = await startChain(blockTime === null ? {} : { blockTime, mixedMining: true });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    services,
    keeper: true,
    env: { ...env, writer: { RPC_URL: proxy.url, CONFIRMATIONS: "3", ...env?.writer } },
  });
  const connection = connect(stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  return { chain, protocol: openProtocol(chain.deployment, chain.url), proxy, stack, connection };
}
