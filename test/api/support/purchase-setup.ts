/** Starts everything that a purchase depends on, so that a test can make each part fail, and creates buyers. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject } from "vitest";
import { z } from "zod";
import { delegationTypes } from "../../../api/delegations/store.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { openProtocol } from "../../../scripts/local/protocol/actions/index.ts";
import { startChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { newBuyer } from "../../support/ledger.ts";
import { checkedRequests } from "../../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startStack } from "../../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import type { TestApi } from "./api.ts";
import { type Buyer, createKeyHolder } from "./buyer.ts";

/** The api caches chain state for at most 1 s. */
const CACHE_MS = 1100;

export type PurchaseSetup = TestApi & {
  readonly connection: Connection;
  /** Proxy between the api and the chain. */
  readonly apiNode: RpcProxy;
  /** Proxy between the writer and the chain. */
  readonly writerNode: RpcProxy;
  /** Proxy between the api and Postgres. */
  readonly database: TcpProxy;
  /** An api on the same database with a limit of 2 requests per minute and key, and a purchase wait of 1 s. */
  readonly strict: TestApi;
  /** An api on the same database with a deployment file that lacks the bond vault. */
  readonly incompleteDeployment: TestApi;
  /** A new wallet with a million USDC, an allowance for the router and a key. */
  readonly freshBuyer: (options?: { approve?: boolean; of?: TestApi }) => Promise<Buyer>;
  /** Waits until the api's cached chain state has expired. */
  readonly waitForCacheExpiry: () => Promise<void>;
};

export async function startPurchaseSetup(): Promise<PurchaseSetup> {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const protocol = openProtocol(chain.deployment, chain.url);
  const databaseUrl = await freshDatabase();
  const [apiNode, writerNode] = [await startRpcProxy(chain.url), await startRpcProxy(chain.url)];
  const database = await startTcpProxy(databaseUrl);

  const deploymentFile = join(inject("runFolder"), `incomplete-${Date.now()}.json`);
  const { bondVault: _, ...contracts } = chain.deployment.contracts;
  writeFileSync(deploymentFile, JSON.stringify({ ...chain.deployment, contracts }));

  const open = async (options: Omit<Parameters<typeof startStack>[0], "chain">, on = chain) => {
    const stack = await startStack({ chain: on, ...options });
    return { chain, protocol, stack, request: await checkedRequests(stack.apiUrl) };
  };
  const main = await open({
    databaseUrl,
    services: ["api", "writer"],
    env: {
      api: { DATABASE_URL: database.url, RPC_URL: apiNode.url, PURCHASE_WAIT_MS: "100000" },
      writer: { RPC_URL: writerNode.url, CONFIRMATIONS: "1", PURCHASE_TTL: "12" },
    },
  });
  const [strict, incompleteDeployment] = await Promise.all([
    open({
      databaseUrl,
      services: ["api"],
      env: { api: { FREE_KEY_RATE_LIMIT: "2", PURCHASE_WAIT_MS: "1000" } },
    }),
    open({ databaseUrl, services: ["api"] }, { ...chain, deploymentFile }),
  ]);
  const connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  return {
    ...main,
    connection,
    apiNode,
    writerNode,
    database,
    strict,
    incompleteDeployment,
    freshBuyer: async ({ approve = true, of = main } = {}) =>
      createKeyHolder(of, await newBuyer(chain, { approve })),
    waitForCacheExpiry: () => sleep(CACHE_MS),
  };
}

const given = z.object({ delegationId: z.number() });

/** The buyer delegates premiums up to `cap` (USDC, 6 decimals) to the agent. @returns the delegation's id */
export async function delegate(
  { chain, request }: TestApi,
  buyer: Buyer,
  agent: Buyer,
  { cap = 10_000_000n } = {},
): Promise<number> {
  const { chainId, contracts } = chain.deployment;
  const message = {
    buyer: buyer.account.address,
    agent: agent.account.address,
    totalPremiumCap: cap,
    expiry: BigInt(Math.floor(Date.now() / 1000) + 3600),
    nonce: 1n,
  };
  const signature = await buyer.account.signTypedData({
    domain: { chainId, verifyingContract: contracts.coverRouter },
    types: delegationTypes,
    primaryType: "Delegation",
    message,
  });
  const { totalPremiumCap, expiry, nonce, ...parties } = message;
  const terms = { totalPremiumCap: String(totalPremiumCap), expiry: String(expiry), nonce: String(nonce) };
  const answer = await request("/api/v1/agent/delegations", {
    headers: agent.headers,
    body: { ...parties, ...terms, signature },
  });
  expect(answer.status, answer.text).toBe(201);
  return given.parse(answer.json).delegationId;
}
