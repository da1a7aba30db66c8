/** Where a feed on a local chain takes new rounds: itself, its aggregator, or code that takes the aggregator's place. */
import type { Address } from "viem";
import { forkedAggregatorAbi } from "../../abis/ForkedAggregator.ts";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { ifAnswered } from "../../lib/chain/reverts.ts";
import type { Wallet } from "../dev/running-stack.ts";
import { bytecodeOf } from "../local/protocol/bytecode.ts";

/** A round's id of a proxy is `phase << 64 | the aggregator's own number`. */
const AGGREGATORS_NUMBER = (1n << 64n) - 1n;

/** The newest round of a feed; the price has 8 decimals. */
export async function latestRoundOf(wallet: Wallet, feed: Address) {
  const read = { address: feed, abi: priceFeedAbi, functionName: "latestRoundData" } as const;
  const [roundId, price, , updatedAt] = await wallet.readContract(read);
  return { roundId, price, updatedAt };
}

async function takesRounds(wallet: Wallet, address: Address): Promise<boolean> {
  const call = {
    address,
    abi: forkedAggregatorAbi,
    functionName: "refresh",
    account: wallet.account,
  } as const;
  return (await ifAnswered(wallet.simulateContract(call))) !== undefined;
}

/** The aggregator of a proxy's newest phase; the feed itself where it is no proxy. The index reads its logs. */
async function aggregatorOf(wallet: Wallet, feed: Address): Promise<Address> {
  const proxy = { address: feed, abi: priceFeedProxyAbi } as const;
  const phase = await ifAnswered(wallet.readContract({ ...proxy, functionName: "phaseId" }));
  if (phase === undefined) return feed;
  const read = { ...proxy, functionName: "phaseAggregators", args: [phase] } as const;
  return (await ifAnswered(wallet.readContract(read))) ?? feed;
}

/** Puts code that takes rounds into the aggregator's place; it goes on from the feed's newest round. */
async function replaceAggregator(wallet: Wallet, feed: Address, aggregator: Address): Promise<void> {
  const { roundId, price, updatedAt } = await latestRoundOf(wallet, feed);
  const before = await wallet.getCode({ address: aggregator });
  const { data: code } = await wallet.call({ data: bytecodeOf("ForkedAggregator") });
  if (code === undefined) throw new Error("the node does not run the creation code of ForkedAggregator");
  await wallet.setCode({ address: aggregator, bytecode: code });
  const hash = await wallet.writeContract({
    ...{ address: aggregator, abi: forkedAggregatorAbi, functionName: "begin", chain: null },
    args: [aggregator === feed ? roundId : roundId & AGGREGATORS_NUMBER, price, updatedAt],
  });
  await wallet.waitForTransactionReceipt({ hash });
  const now = await ifAnswered(latestRoundOf(wallet, feed));
  if (now?.roundId === roundId && now.price === price && now.updatedAt === updatedAt) return;
  await wallet.setCode({ address: aggregator, bytecode: before ?? "0x" });
  throw new Error(`the feed ${feed} does not answer from ${aggregator}: its price cannot be moved`);
}

/**
 * The contract to which the rounds of a feed are pushed. On a fork, where the aggregator takes rounds from its network alone, its code
 * is replaced first.
 * @throws when the feed does not answer from there
 */
export async function roundSource(wallet: Wallet, feed: Address): Promise<Address> {
  if (await takesRounds(wallet, feed)) return feed;
  const aggregator = await aggregatorOf(wallet, feed);
  if (!(await takesRounds(wallet, aggregator))) await replaceAggregator(wallet, feed, aggregator);
  return aggregator;
}
