/** The price falls, and the keeper triggers the buyer's policy: the payout is a bond, and nobody has claimed it. */
import { formatUnits } from "viem";
import { z } from "zod";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import type { StackContracts, Wallet } from "../dev/running-stack.ts";
import { changedPrice, FEED_DECIMALS } from "../price/arguments.ts";
import { observedSince, policiesReachedBy } from "../price/due-policies.ts";
import { letFall, movePrice, type NewRound, type Round } from "../price/move-price.ts";
import { latestRoundOf } from "../price/round-source.ts";
import type { BoughtPolicy } from "./buy-policy.ts";
import { printChange } from "./chain.ts";
import type { DemoStack } from "./demo-stack.ts";

/** More than the 6 % that trigger the policy: -7 %, in hundredths of a percent. */
const fall = { kind: "relative", hundredths: -700n } as const;

/** Bonds of one epoch: the month YYYYMM of their maturity, and whole dollars. */
export type Bond = { readonly epochId: bigint; readonly amount: bigint };

const paid = z.object({ status: z.literal("Triggered"), bondId: z.string(), payoutAmount: z.string() });

const tellRound = (what: string, { roundId, price }: Round): void =>
  console.log(`\n⛓ BTC ${what} ${formatUnits(price, FEED_DECIMALS)} USD: round ${roundId}`);

/** Prints the transaction that has triggered the policy since a block. @throws when the chain has none */
async function printTrigger(
  wallet: Wallet,
  { policyManager }: StackContracts,
  { productId, policyId }: BoughtPolicy,
  since: bigint,
): Promise<void> {
  const [trigger] = await wallet.getContractEvents({
    ...{ address: policyManager, abi: policyManagerAbi, eventName: "PolicyTriggered" },
    args: { productId, policyId: BigInt(policyId) },
    fromBlock: since,
  });
  if (!trigger) throw new Error(`the chain has no trigger of policy ${policyId}`);
  const { blockNumber, transactionHash: hash } = trigger;
  const { from } = await wallet.getTransaction({ hash });
  console.log(
    `\n⛓ block ${blockNumber}, ${hash}: the keeper ${from} observes policy ${policyId} for the third time, which pays it`,
  );
}

async function awaitPayment(
  { api, contracts }: DemoStack,
  wallet: Wallet,
  policy: BoughtPolicy,
  since: bigint,
): Promise<Bond> {
  const path = `/policies/${policy.productId}/${policy.policyId}`;
  const { bondId, payoutAmount } = await api.readOnce(path, paid, "the keeper to trigger the policy");
  const bond = { epochId: BigInt(bondId), amount: BigInt(payoutAmount) / 1_000_000n };
  await printTrigger(wallet, contracts, policy, since);
  await printChange(wallet, contracts, bond.epochId, since);
  return bond;
}

/**
 * Lets the price of BTC fall below the policy's trigger until the keeper has observed it three times, which pays the policy, and lets
 * it rise to where it was, so that the demo can be repeated. The local clock moves on by seven minutes.
 * @throws when a response or the chain is not as expected
 */
export async function letPriceFall(demo: DemoStack, wallet: Wallet, policy: BoughtPolicy): Promise<Bond> {
  const { api, contracts } = demo;
  const { price } = await latestRoundOf(wallet, contracts.btcUsdFeed);
  const low = changedPrice(price, fall);
  const since = await wallet.getBlockNumber();
  const reached = await policiesReachedBy(api, "BTC", low, since);
  async function observed(round: NewRound): Promise<boolean> {
    tellRound("falls to", round);
    for (const { policyId, observation } of await observedSince(api, reached, round.blockNumber))
      console.log(`⛓ the keeper observes policy ${policyId}: ${observation} of 3`);
    return true;
  }
  try {
    await letFall(wallet, contracts.btcUsdFeed, low, observed);
    return await awaitPayment(demo, wallet, policy, since);
  } finally {
    tellRound("rises to", await movePrice(wallet, contracts.btcUsdFeed, price));
  }
}
