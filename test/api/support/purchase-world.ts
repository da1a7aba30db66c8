/** Everything that a purchase depends on, each part of which can be made to fail, and buyers that come anew. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject } from "vitest";
import { z } from "zod";
import { delegationTypes } from "../../../api/delegations/store.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
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
import { type Buyer, keyHolder } from "./buyer.ts";

/** What the api knows of the chain is a second old at most. */
const FORGET_MS = 1100;

export type PurchaseWorld = TestApi & {
  readonly connection: Connection;
  /** Between the api and the chain. */
  readonly apiNode: RpcProxy;
  /** Between the writer and the chain. */
  readonly writerNode: RpcProxy;
  /** Between the api and Postgres. */
  readonly database: TcpProxy;
  /** Of the same service: two requests a minute and key, and it waits for a second. */
  readonly strict: TestApi;
  /** Of the same service, with a deployment file that names no bond vault. */
  readonly incomplete: TestApi;
  /** Another service on the same chain, whose keys' wallets may spend next to no gas in a day. */
  readonly stingy: TestApi;
  /** A wallet with a million USDC, an allowance for the router and a key, which has bought nothing yet. */
  readonly freshBuyer: (options?: { approve?: boolean; of?: TestApi }) => Promise<Buyer>;
  /** Waits until the api has forgotten what it knew of the chain. */
  readonly forgotten: () => Promise<void>;
};

export async function startPurchaseWorld(): Promise<PurchaseWorld> {
  const relayers = [anvilAccount(1), anvilAccount(2)];
  const chain = await startChain({ blockTime: 1, mixedMining: true, relayers });
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
      api: { DATABASE_URL: database.url, RPC_URL: apiNode.url, PURCHASE_WAIT_MS: "20000" },
      writer: { RPC_URL: writerNode.url, CONFIRMATIONS: "1", PURCHASE_TTL: "3" },
    },
  });
  const [strict, incomplete, stingy] = await Promise.all([
    open({
      databaseUrl,
      services: ["api"],
      env: { api: { FREE_KEY_RATE_LIMIT: "2", PURCHASE_WAIT_MS: "1000" } },
    }),
    open({ databaseUrl, services: ["api"] }, { ...chain, deploymentFile }),
    open({
      services: ["api", "writer"],
      relayerKeys: [privateKeyOf(anvilAccount(2))],
      env: { writer: { GAS_BUDGET_PER_WALLET_ETH: "0.000000001" } },
    }),
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
    incomplete,
    stingy,
    freshBuyer: async ({ approve = true, of = main } = {}) =>
      keyHolder(of, await newBuyer(chain, { approve })),
    forgotten: () => sleep(FORGET_MS),
  };
}

const given = z.object({ delegationId: z.number() });

/** The buyer lets the agent's keys spend premiums of its own; `cap` has 6 decimals. @returns the delegation's number. */
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
