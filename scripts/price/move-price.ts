/** Moves the price of a feed on a local chain by new rounds. The stack's refresher repeats the newest price, which then is this one. */
import type { Address, Hex } from "viem";
import { forkedAggregatorAbi } from "../../abis/ForkedAggregator.ts";
import { DWELL, OBSERVATION_INTERVAL, OBSERVATIONS } from "../../lib/price-rules.ts";
import type { Wallet } from "../dev/running-stack.ts";
import { waitFor } from "../local/wait.ts";
import { latestRoundOf, roundSource } from "./round-source.ts";

/** A round of a feed; the price has 8 decimals, the time is in Unix seconds. */
export type Round = { readonly roundId: bigint; readonly price: bigint; readonly updatedAt: bigint };
export type NewRound = Round & { readonly txHash: Hex; readonly blockNumber: bigint };

async function pushRound(wallet: Wallet, feed: Address, price: bigint): Promise<NewRound> {
  const address = await roundSource(wallet, feed);
  const call = { address, abi: forkedAggregatorAbi, functionName: "push", args: [price] } as const;
  const txHash = await wallet.writeContract({ ...call, chain: null });
  const { blockNumber, status } = await wallet.waitForTransactionReceipt({ hash: txHash });
  if (status !== "success") throw new Error(`the round of ${feed} reverted: ${txHash}`);
  const round = await latestRoundOf(wallet, feed);
  if (round.price !== price)
    throw new Error(`the feed ${feed} does not answer from ${address}: its price stays`);
  return { ...round, txHash, blockNumber };
}

/**
 * Pushes a round with this price (8 decimals), later than the one before it, as the rounds of a real feed are.
 * @throws when the feed does not take it, or the chain mines no blocks
 */
export async function movePrice(wallet: Wallet, feed: Address, price: bigint): Promise<NewRound> {
  const { updatedAt } = await latestRoundOf(wallet, feed);
  await waitFor({
    what: "the chain's clock to move on",
    probe: async () => (await wallet.getBlock()).timestamp > updatedAt || undefined,
  });
  return pushRound(wallet, feed, price);
}

/**
 * Lets a price (8 decimals) stay low until the policies that it makes due are paid: three rounds, and between them the local clock
 * moves on by as much as the shields demand.
 * @param observed waits until nothing is left to observe at a round; false where nothing was due
 */
export async function letFall(
  wallet: Wallet,
  feed: Address,
  price: bigint,
  observed: (round: NewRound) => Promise<boolean>,
): Promise<NewRound[]> {
  const rounds: NewRound[] = [];
  // A policy that was bought a moment ago cannot be observed yet.
  await wallet.increaseTime({ seconds: DWELL });
  while (rounds.length < OBSERVATIONS) {
    const round = await movePrice(wallet, feed, price);
    rounds.push(round);
    if (!(await observed(round))) break;
    if (rounds.length < OBSERVATIONS) await wallet.increaseTime({ seconds: OBSERVATION_INTERVAL });
  }
  return rounds;
}
