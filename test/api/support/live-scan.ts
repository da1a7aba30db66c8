/** A seeded chain with two apis: one with an index, and one that has only the chain, through a proxy that injects faults. */
import { expect } from "vitest";
import { z } from "zod";
import { DAY } from "../../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../../scripts/local/seed.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../../support/openapi.ts";
import { type RpcCall, type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startStack } from "../../support/stack.ts";
import { failure } from "./api.ts";

export type LiveScanSetup = {
  readonly chain: TestChain;
  /** Requests to the api that has the index and an unmodified node. */
  readonly indexed: CheckedRequest;
  /** Requests to the api that has neither database nor index, and whose node is the proxy. */
  readonly live: CheckedRequest;
  /** URL and process id of the api without an index. */
  readonly liveUrl: string;
  readonly livePid: number;
  readonly proxy: RpcProxy;
  /** Waits until the index has reached the chain's newest block. */
  readonly waitForIndex: () => Promise<void>;
};

/** No server listens here: live scans must work without a database. */
const NO_DATABASE = "postgres://nobody@127.0.0.1:1/none";

export async function startLiveScan(): Promise<LiveScanSetup> {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 800 * DAY);
  const chain = await startChain({ timestamp, retired: false });
  await seedHistory({ rpcUrl: chain.url, deployment: chain.deployment });
  const proxy = await startRpcProxy(chain.url);
  const [withIndex, withoutIndex] = await Promise.all([
    startStack({ chain, services: ["api", "indexer"] }),
    startStack({
      chain,
      rpcUrl: proxy.url,
      databaseUrl: NO_DATABASE,
      services: [],
      env: { api: { TRUST_PROXY: "loopback" } }, // a client may start two scans at once
    }),
  ]);
  const { pid } = await withoutIndex.start("api");
  const indexed = await checkedRequests(withIndex.apiUrl);
  const health = z.object({ lastSyncedBlock: z.string() });
  return {
    chain,
    indexed,
    live: await checkedRequests(withoutIndex.apiUrl),
    liveUrl: withoutIndex.apiUrl,
    livePid: pid,
    proxy,
    async waitForIndex() {
      const block = await chain.client.getBlockNumber();
      await waitFor({
        what: `the index to reach block ${block}`,
        probe: async () => {
          const { status, json } = await indexed("/api/v1/indexer/health");
          return status === 200 && BigInt(health.parse(json).lastSyncedBlock) >= block ? true : undefined;
        },
      });
    },
  };
}

/**
 * The answers of the first sample without a 503 `chain_not_found`: a busy machine is too slow for the api's time limits of scans
 * and of the node's calls.
 */
export async function answersInTime(
  sample: () => Promise<readonly HttpAnswer[]>,
): Promise<readonly HttpAnswer[]> {
  const isLate = (answer: HttpAnswer) => answer.status === 503 && failure(answer)[1] === "chain_not_found";
  for (;;) {
    const answers = await sample();
    if (!answers.some(isLate)) return answers;
  }
}

/** The price in a response that was read from the contracts, whatever the index knows. */
export const priceOfChain = { currentPrice: expect.any(String), currentPriceAt: expect.any(String) };

const indexedPolicies = z.looseObject({
  policies: z.array(
    z.looseObject({ source: z.string(), status: z.string(), productName: z.string().nullable() }),
  ),
});

/**
 * An indexed response as a live scan must return it: `source` is "chain", and nobody knows which open policies are due, nor what
 * only the index knows. Of a retired product only the contracts tell the asset, and so its price.
 */
export function asChainResponse({ json }: HttpAnswer): unknown {
  const list = indexedPolicies.safeParse(json);
  if (!list.success) return json;
  const policies = list.data.policies.map((policy) => ({
    ...policy,
    source: "chain",
    ...{ triggeredAt: null, bondId: null, priceSnapshot: "0" },
    ...(policy.status === "Active" ? { due: null, claim: null } : {}),
    ...(policy.productName === null ? priceOfChain : {}),
  }));
  return { ...list.data, policies };
}

const window = z.tuple([z.object({ fromBlock: z.string(), toBlock: z.string() })]);

/** The block range of an `eth_getLogs` call; undefined for any other call. */
export function logRangeOf({
  method,
  params,
}: RpcCall): { from: number; to: number; length: number } | undefined {
  if (method !== "eth_getLogs") return undefined;
  const [{ fromBlock, toBlock }] = window.parse(params);
  const [from, to] = [Number(fromBlock), Number(toBlock)];
  return { from, to, length: to - from + 1 };
}
