/** A seeded chain with the index beside it, and an api that reads the same chain alone, through a node that misbehaves. */
import { z } from "zod";
import { DAY } from "../../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../../scripts/local/seed.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type RpcCall, type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startStack } from "../../support/stack.ts";

export type LiveSetup = {
  readonly chain: TestChain;
  /** To an api that has the index, and the node as it is. */
  readonly indexed: CheckedRequest;
  /** To an api without database and index, whose node is the proxy. */
  readonly live: CheckedRequest;
  /** Where that one listens, and its process. */
  readonly liveUrl: string;
  readonly livePid: number;
  readonly proxy: RpcProxy;
  /** Waits until the index has read the chain's newest block. */
  readonly caughtUp: () => Promise<void>;
};

/** A database that nobody answers for: what the fallbacks read, they read elsewhere. */
const NO_DATABASE = "postgres://nobody@127.0.0.1:1/none";

export async function startLive(): Promise<LiveSetup> {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 800 * DAY);
  const chain = await startChain({ timestamp, retired: false });
  await seedHistory({ rpcUrl: chain.url, deployment: chain.deployment });
  const proxy = await startRpcProxy(chain.url);
  const [beside, alone] = await Promise.all([
    startStack({ chain, services: ["api", "indexer"] }),
    startStack({ chain, rpcUrl: proxy.url, databaseUrl: NO_DATABASE, services: [] }),
  ]);
  const { pid } = await alone.start("api");
  const indexed = await checkedRequests(beside.apiUrl);
  const health = z.object({ lastSyncedBlock: z.string() });
  return {
    chain,
    indexed,
    live: await checkedRequests(alone.apiUrl),
    liveUrl: alone.apiUrl,
    livePid: pid,
    proxy,
    async caughtUp() {
      const block = await chain.client.getBlockNumber();
      await waitFor({
        what: `the index to reach block ${block}`,
        probe: async () => {
          const { status, json } = await indexed("/api/v1/indexer/health");
          return status === 200 && BigInt(health.parse(json).lastSyncedBlock) >= block ? true : undefined;
        },
        timeoutMs: 60_000,
      });
    },
  };
}

const indexedPolicies = z.looseObject({ policies: z.array(z.looseObject({ source: z.string() })) });

/** An indexed list as the chain's own answer has to be: it says itself where it comes from. */
export function fromTheChain({ json }: HttpAnswer): unknown {
  const list = indexedPolicies.safeParse(json);
  if (!list.success) return json;
  const policies = list.data.policies.map((policy) => ({ ...policy, source: "chain" }));
  return { ...list.data, policies };
}

const window = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })]);

/** The blocks of a call for logs; undefined for any other call. */
export function blocksOf({
  method,
  params,
}: RpcCall): { from: number; to: number; length: number } | undefined {
  if (method !== "eth_getLogs") return undefined;
  const [{ fromBlock, toBlock }] = window.parse(params);
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  return { from, to, length: to - from + 1 };
}
