/** A chain, api and writer on it, and buyers. Tests make its processes, its node and its servers fail. */
import type { Hex } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
import { openProtocol, type Protocol } from "../../../scripts/local/protocol/actions/index.ts";
import type { ServiceName } from "../../../scripts/local/services.ts";
import { type Buyer, createBuyer } from "../../api/support/buyer.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import type { CompletedPurchase } from "./assertions.ts";
import { buyWithRetries } from "./purchase-client.ts";

export type PurchaseSetup = {
  readonly chain: TestChain;
  readonly protocol: Protocol;
  /** Between the writer and the chain; with `apiThroughProxy` also between the api and the chain. */
  readonly proxy: RpcProxy;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly buyers: readonly Buyer[];
};

export type PurchaseSetupOptions = {
  readonly buyers?: number;
  /** The api also reaches the chain through the proxy. */
  readonly apiThroughProxy?: boolean;
  /** A database on the test's own server. Default: a new one on the run's server. */
  readonly databaseUrl?: string;
  /** Those of the writer. Default: of both relayer wallets. */
  readonly relayerKeys?: readonly Hex[];
  readonly env?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
};

/** The relayer wallets. */
export const relayers = [anvilAccount(1), anvilAccount(2)] as const;

export async function startPurchaseSetup(options: PurchaseSetupOptions = {}): Promise<PurchaseSetup> {
  const { buyers: count = 1, apiThroughProxy = false, databaseUrl, env } = options;
  const { relayerKeys = relayers.map(privateKeyOf) } = options;
  const chain = await startChain({ blockTime: 1, mixedMining: true, relayers });
  const proxy = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    databaseUrl,
    services: ["api", "writer"],
    relayerKeys,
    env: {
      api: { ...(apiThroughProxy ? { RPC_URL: proxy.url } : {}), ...env?.api },
      writer: { RPC_URL: proxy.url, CONFIRMATIONS: "3", ...env?.writer },
    },
  });
  const connection = connect(stack.databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const protocol = openProtocol(chain.deployment, chain.url);
  // Answers are not checked against the OpenAPI document: a killed api cannot serve it.
  const api = { chain, stack, protocol, request: stack.request };
  const buyers: Buyer[] = [];
  for (let n = 0; n < count; n += 1) buyers.push(await createBuyer(api, anvilAccount(3 + n)));
  return { chain, protocol, proxy, stack, connection, buyers };
}

/** Plans purchases by the buyers in turn, with the idempotency keys `name-0`, `name-1`, … */
export function planPurchases(
  { buyers }: PurchaseSetup,
  name: string,
  count: number,
): { buyer: number; key: string }[] {
  return Array.from({ length: count }, (_, n) => ({ buyer: n % buyers.length, key: `${name}-${n}` }));
}

/** Buys once with each planned key, all at once; each call is repeated, without patience, until it has a receipt. */
export const buyAll = (setup: PurchaseSetup, name: string, count: number): Promise<CompletedPurchase[]> =>
  Promise.all(
    planPurchases(setup, name, count).map(async (planned) => {
      const buyer = setup.buyers[planned.buyer];
      if (!buyer) throw new Error("no such buyer");
      const call = () => buyer.buy({}, { "idempotency-key": planned.key });
      return { planned, answers: [await buyWithRetries(call, "impatient")] };
    }),
  );

/** The policies of each key, as its calls' receipts name them. */
export const policiesByKey = (purchases: readonly CompletedPurchase[]): (readonly string[])[] =>
  purchases.map(({ planned, answers }) => [planned.key, ...answers.map(({ receipt }) => receipt.policyId)]);
