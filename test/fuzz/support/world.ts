/** The whole service on a seeded chain and a testnet, with sandbox and faucet. */
import type { LocalAccount } from "viem";
import { z } from "zod";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
import { DAY } from "../../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../../scripts/local/seed.ts";
import { oracleSigner } from "../../../scripts/local/service-wallets.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { now } from "../../api/support/onboarding.ts";
import { mineEverySecond, startChain, startTestnet, type TestChain } from "../../support/chain.ts";
import { newBuyer } from "../../support/ledger.ts";
import { type Stack, startStack } from "../../support/stack.ts";

export type World = {
  readonly chain: TestChain;
  readonly stack: Stack;
  /** A wallet with a million USDC and an allowance for the router. */
  readonly owner: LocalAccount;
};

async function startSeededChain(): Promise<Pick<World, "chain" | "owner">> {
  // The seeded history takes less than 800 days.
  const chain = await startChain({ timestamp: BigInt(now() - 800 * DAY), retired: false });
  await seedHistory({ rpcUrl: chain.url, deployment: chain.deployment });
  const owner = await newBuyer(chain);
  await mineEverySecond(chain);
  return { chain, owner };
}

export async function startWorld(): Promise<World> {
  const [{ chain, owner }, testnet] = await Promise.all([
    startSeededChain(),
    startTestnet({ blockTime: 1, mixedMining: true }),
  ]);
  // The only claim that spends is the journey's, and on a busy machine a call may wait long for its block.
  const env = {
    api: { FAUCET_CLIENT_LIMIT: "1", PURCHASE_WAIT_MS: "120000" },
    writer: { ORACLE_PRIVATE_KEY: privateKeyOf(oracleSigner) },
  };
  const stack = await startStack({ chain, testnet, env });
  const states = {
    "/api/v1/indexer/health": "synced",
    "/sandbox/info": "ready",
    "/api/v1/faucet/status": "ready",
  };
  for (const [path, wanted] of Object.entries(states)) {
    await waitFor({
      what: `${path} to say ${wanted}`,
      probe: async () => {
        const { json } = await stack.request(path);
        return z.object({ status: z.string() }).parse(json).status === wanted || undefined;
      },
    });
  }
  return { chain, stack, owner };
}
