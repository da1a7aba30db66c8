/** A stack for agents: both chains, all processes, and two wallets with USDC and an allowance. */
import { randomUUID } from "node:crypto";
import type { Address } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { policiesOnChain } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { admin, type TestApi } from "./api.ts";
import { createBuyer } from "./buyer.ts";
import { keyOf } from "./onboarding.ts";
import { startSandbox } from "./sandbox.ts";

/** The premium of `order`. */
export const PREMIUM = 292_000n;
export const order = { product: "FLASHBTC1H-001", coverageAmount: "100000000" };

export const owner = anvilAccount(0);
export const buyer = anvilAccount(2);
export const investor = anvilAccount(3);

export async function startForAgents(): Promise<TestApi> {
  const sandbox = await startSandbox({ services: ["api", "indexer", "writer"] });
  const { main, stack, request } = sandbox;
  const api = { chain: main, protocol: act.openProtocol(main.deployment, main.url), stack, request };
  for (const account of [buyer, investor]) await createBuyer(api, account);
  await sandbox.until();
  return api;
}

/** Runs with a new key of the wallet, and revokes it: a wallet has three keys at most. */
export async function withKey<T>(
  { request }: Pick<TestApi, "request">,
  wallet: Address,
  limits: object,
  run: (headers: { "x-api-key": string }) => Promise<T>,
): Promise<T> {
  const body = { wallet, tier: "paid", ...limits };
  const { keyId, headers } = keyOf(await request("/api/v1/keys/generate", { headers: admin, body }));
  try {
    return await run(headers);
  } finally {
    await request(`/api/v1/agent/keys/${keyId}`, { method: "DELETE", headers });
  }
}

/** The arguments of `buy_policy`. */
export const purchase = (more: object = {}) => ({
  ...order,
  maxPremium: String(PREMIUM),
  requestId: randomUUID(),
  ...more,
});

export const countPolicies = async ({ chain }: Pick<TestApi, "chain">): Promise<number> =>
  (await policiesOnChain(chain, buyer.address)).length;

/** The API's code in the text of a refused call. */
export const codeOf = ({ isError, text }: { isError: boolean; text: string }) =>
  isError ? text.split(":")[0] : "done";
