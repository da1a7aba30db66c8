/** Moves the price of a mock feed by new rounds. The dev stack's refresher repeats the newest price, which then is this one. */
import type { Address, Hex } from "viem";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { DWELL, OBSERVATION_INTERVAL, OBSERVATIONS } from "../../lib/price-rules.ts";
import type { Wallet } from "../dev/running-stack.ts";
import { waitFor } from "../local/wait.ts";

/** A round of a feed; the price has 8 decimals, the time is in Unix seconds. */
export type Round = { readonly roundId: bigint; readonly price: bigint; readonly updatedAt: bigint };
export type NewRound = Round & { readonly txHash: Hex; readonly blockNumber: bigint };

/** The newest round of a feed. */
export async function newestRound(wallet: Wallet, feed: Address): Promise<Round> {
  const [roundId, price, , updatedAt] = await wallet.readContract({
    address: feed,
    abi: mockPriceFeedAbi,
    functionName: "latestRoundData",
  });
  return { roundId, price, updatedAt };
}

async function pushRound(wallet: Wallet, feed: Address, price: bigint): Promise<NewRound> {
  const call = { address: feed, abi: mockPriceFeedAbi, functionName: "push", args: [price] } as const;
  const txHash = await wallet.writeContract({ ...call, chain: null }).catch((error: unknown) => {
    if (!findRevert(error)) throw error;
    throw new Error(`The feed ${feed} takes no price from us: the prices of a fork are its network's.`);
  });
  const { blockNumber, status } = await wallet.waitForTransactionReceipt({ hash: txHash });
  if (status !== "success") throw new Error(`the round of ${feed} reverted: ${txHash}`);
  return { ...(await newestRound(wallet, feed)), txHash, blockNumber };
}

/**
 * Pushes a round with this price (8 decimals), later than the one before it, as the rounds of a real feed are.
 * @throws when the feed is not a mock's, or the chain mines no blocks
 */
export async function movePrice(wallet: Wallet, feed: Address, price: bigint): Promise<NewRound> {
  const { updatedAt } = await newestRound(wallet, feed);
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
