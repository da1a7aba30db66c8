import { startChain, type TestChain } from "../../support/chain.ts";
import { openLedger, type TestLedger } from "../../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, startStack } from "../../support/stack.ts";

/** A chain, a writer that reaches it through a proxy, and the ledger of both; no api. */
export type WriterSetup = {
  readonly chain: TestChain;
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  readonly ledger: TestLedger;
};

/** `env` has more environment variables of the writer. */
export async function startWriterSetup(env: Readonly<Record<string, string>> = {}): Promise<WriterSetup> {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, rpcUrl: proxy.url, services: ["writer"], env: { writer: env } });
  const ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
  return { chain, proxy, stack, ledger };
}
