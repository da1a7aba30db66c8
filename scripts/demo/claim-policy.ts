/** The price falls, and the buyer claims its policy: the payout is a bond. */
import { formatUnits } from "viem";
import { z } from "zod";
import type { StackContracts, Wallet } from "../dev/running-stack.ts";
import { changedPrice, FEED_DECIMALS } from "../price/arguments.ts";
import { movePrice, newestRound } from "../price/move-price.ts";
import type { BoughtPolicy } from "./buy-policy.ts";
import { printChange } from "./chain.ts";
import type { DemoStack } from "./demo-stack.ts";
import { prepare, sendSteps } from "./prepared.ts";

/** More than the 6 % that trigger the policy: -7 %, in hundredths of a percent. */
const fall = { kind: "relative", hundredths: -700n } as const;

/** Bonds of one epoch: the month YYYYMM of their maturity, and whole dollars. */
export type Bond = { readonly epochId: bigint; readonly amount: bigint };

const claimable = z.object({
  due: z.literal(true),
  claim: z.object({ path: z.string(), body: z.record(z.string(), z.string()) }),
});
const paid = z.object({ status: z.literal("Triggered"), bondId: z.string(), payoutAmount: z.string() });

async function tellPrice(
  what: string,
  wallet: Wallet,
  contracts: StackContracts,
  price: bigint,
): Promise<void> {
  const rounds = await movePrice(wallet, contracts.btcUsdFeed, price);
  const ids = rounds.map(({ roundId }) => roundId).join(", ");
  console.log(`\n⛓ BTC ${what} ${formatUnits(price, FEED_DECIMALS)} USD: rounds ${ids}`);
}

async function claim(demo: DemoStack, wallet: Wallet, policy: BoughtPolicy): Promise<Bond> {
  const { api, contracts } = demo;
  const path = `/policies/${policy.productId}/${policy.policyId}`;
  const { claim: call } = await api.readOnce(path, claimable, "the policy to be due");
  const before = await wallet.getBlockNumber();
  await sendSteps(wallet, await prepare(api, wallet, call.path, call.body));
  const { bondId, payoutAmount } = await api.readOnce(path, paid, "the policy to be paid");
  const bond = { epochId: BigInt(bondId), amount: BigInt(payoutAmount) / 1_000_000n };
  await printChange(wallet, contracts, bond.epochId, before);
  return bond;
}

/**
 * Lets the price of BTC fall below the policy's trigger, claims the policy, and lets the price rise to where it was, so that
 * the demo can be repeated. @throws when a response or the chain is not as expected
 */
export async function claimPolicy(demo: DemoStack, wallet: Wallet, policy: BoughtPolicy): Promise<Bond> {
  const { price } = await newestRound(wallet, demo.contracts.btcUsdFeed);
  try {
    await tellPrice("falls to", wallet, demo.contracts, changedPrice(price, fall));
    return await claim(demo, wallet, policy);
  } finally {
    await tellPrice("rises to", wallet, demo.contracts, price);
  }
}
