/** Moves the price of a mock feed by new rounds. The dev stack's refresher repeats the newest price, which then is this one. */
import type { Address, Hex } from "viem";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import type { Wallet } from "../dev/running-stack.ts";
import { waitFor } from "../local/wait.ts";

/** Rounds at or below its trigger price that make a policy due: `CONFIRMATIONS` of the shield. */
const ROUNDS = 3;

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
 * Pushes as many rounds with this price (8 decimals) as a trigger needs. Each has a later time than the one before it, as the
 * rounds of a real feed have.
 * @throws when the feed is not a mock's, or the chain mines no blocks
 */
export async function movePrice(wallet: Wallet, feed: Address, price: bigint): Promise<NewRound[]> {
  const rounds: NewRound[] = [];
  let { updatedAt } = await newestRound(wallet, feed);
  while (rounds.length < ROUNDS) {
    await waitFor({
      what: "the chain's clock to move on",
      probe: async () => (await wallet.getBlock()).timestamp > updatedAt || undefined,
    });
    const round = await pushRound(wallet, feed, price);
    rounds.push(round);
    updatedAt = round.updatedAt;
  }
  return rounds;
}
