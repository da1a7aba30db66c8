/** Which policies became due, and with which log: slowly, from the chain's logs and the products' terms alone. */
import { type Address, type Hex, parseEventLogs } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { FEED_TO_PRICE } from "../../lib/price-rules.ts";
import { allTerms, type ProductTerms } from "../../scripts/local/protocol/terms.ts";
import type { TestChain } from "./chain.ts";

type Position = {
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
};
const isBefore = (a: Position, b: Position) =>
  a.blockNumber < b.blockNumber || (a.blockNumber === b.blockNumber && a.logIndex < b.logIndex);
const later = <A extends Position, B extends Position>(a: A, b: B) => (isBefore(a, b) ? b : a);
const byPosition = (a: Position, b: Position) => (isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0);

type Round = {
  readonly id: bigint;
  readonly phase: bigint;
  /** USD, 8 decimals. */
  readonly price: bigint;
  readonly updatedAt: bigint;
  readonly log: Position;
};
type Feed = { readonly phases: readonly Position[]; readonly rounds: readonly Round[] };

const byId = (a: Pick<Round, "id">, b: Pick<Round, "id">) => (a.id < b.id ? -1 : 1);

/** A feed's phases, by the logs that announced them, and the rounds of each phase's aggregator. */
async function readFeed(client: TestChain["client"], address: Address): Promise<Feed> {
  const fromBlock = 0n;
  const phases = await client.getContractEvents({
    ...{ abi: priceFeedProxyAbi, address, eventName: "AggregatorConfirmed", fromBlock, strict: true },
  });
  const rounds = await Promise.all(
    phases.map(async ({ args: { latest } }, index) => {
      const phase = BigInt(index + 1);
      const logs = await client.getContractEvents({
        ...{ abi: priceAggregatorAbi, address: latest, eventName: "AnswerUpdated", fromBlock, strict: true },
      });
      return logs.map(({ args: { roundId, current, updatedAt }, ...log }): Round => {
        return { id: (phase << 64n) | roundId, phase, price: current, updatedAt, log };
      });
    }),
  );
  return { phases, rounds: rounds.flat() };
}

/** The price of the newest round, 8 decimals, as a contract reads it after these logs. */
function priceAt({ phases, rounds }: Feed, log: Position): bigint {
  const phase = BigInt(phases.filter((begin) => isBefore(begin, log)).length);
  const known = rounds.filter((round) => round.phase === phase && isBefore(round.log, log));
  return known.sort(byId).at(-1)?.price ?? 0n;
}

export type TrueDue = Position & {
  readonly productId: Hex;
  readonly policyId: bigint;
  readonly buyer: Address;
  readonly coverage: bigint;
  readonly payout: bigint;
  /** USD, 18 decimals, as the prices of the rounds. */
  readonly triggerPrice: bigint;
  readonly expiresAt: bigint;
  /** Rising ids, and the prices in their order. */
  readonly rounds: readonly bigint[];
  readonly prices: readonly bigint[];
  /** The block's time. */
  readonly dueAt: bigint;
};

/** The policies that became due, in chain order, and within a log by product and policy. */
export async function dueOnChain({ client, deployment }: TestChain): Promise<TrueDue[]> {
  const { coverRouter, policyManager, btcUsdFeed, ethUsdFeed } = deployment.contracts;
  const [BTC, ETH] = await Promise.all([btcUsdFeed, ethUsdFeed].map((feed) => readFeed(client, feed)));
  if (!BTC || !ETH) throw new Error("there are no feeds");
  const logs = await client.getLogs({ address: [coverRouter, policyManager], fromBlock: 0n });
  const purchases = parseEventLogs({ abi: coverRouterAbi, logs, eventName: "PolicyPurchased" });
  const closed = new Map(
    parseEventLogs({ abi: policyManagerAbi, logs, eventName: "PolicyTriggered" }).map(
      ({ args, blockNumber }) => [`${args.productId} ${args.policyId}`, blockNumber],
    ),
  );
  const times = new Map<bigint, Promise<bigint>>();
  const timeOf = ({ blockNumber }: Position) => {
    const time =
      times.get(blockNumber) ?? client.getBlock({ blockNumber }).then(({ timestamp }) => timestamp);
    times.set(blockNumber, time);
    return time;
  };
  const due = await Promise.all(
    purchases.map(async ({ args, ...log }): Promise<TrueDue[]> => {
      const terms = allTerms.find(({ productId }) => productId === args.productId);
      if (!terms || args.payout < 1_000_000n) return [];
      const feed = { BTC, ETH }[terms.symbol];
      const bought = { log, boughtAt: await timeOf(log), terms };
      const { triggerPrice, expiresAt, first } = firstFallen(feed, bought);
      const last = first.map(({ counts }) => counts).at(2);
      if (!last) return [];
      const dueAt = await timeOf(last);
      const closedIn = closed.get(`${args.productId} ${args.policyId}`);
      if (dueAt > expiresAt || (closedIn !== undefined && closedIn <= last.blockNumber)) return [];
      const { blockNumber, logIndex, blockHash, transactionHash } = last;
      const rising = first.map(({ round }) => round).sort(byId);
      return [
        {
          ...{ ...args, blockNumber, logIndex, blockHash, transactionHash, triggerPrice, expiresAt, dueAt },
          rounds: rising.map(({ id }) => id),
          prices: rising.map(({ price }) => price * FEED_TO_PRICE),
        },
      ];
    }),
  );
  const byPolicy = (a: TrueDue, b: TrueDue) =>
    a.productId === b.productId ? Number(a.policyId - b.policyId) : a.productId < b.productId ? -1 : 1;
  return due.flat().sort((a, b) => byPosition(a, b) || byPolicy(a, b));
}

/** The first three rounds that count for a policy at or below its trigger price, each with the log from which it counts. */
function firstFallen(
  feed: Feed,
  { log, boughtAt, terms }: { log: Position; boughtAt: bigint; terms: ProductTerms },
) {
  const barrier = (priceAt(feed, log) * BigInt(10_000 - terms.triggerDropBps)) / 10_000n;
  const expiresAt = boughtAt + BigInt(terms.durationSeconds);
  const first = feed.rounds
    .filter(({ price, updatedAt }) => price > 0n && price <= barrier && updatedAt >= boughtAt)
    .filter(({ updatedAt }) => updatedAt <= expiresAt)
    .flatMap((round) => {
      const begin = feed.phases[Number(round.phase) - 1];
      return begin ? [{ round, counts: later(later(round.log, begin), log) }] : [];
    })
    .sort((a, b) => byPosition(a.counts, b.counts) || byId(a.round, b.round))
    .slice(0, 3);
  return { triggerPrice: barrier * FEED_TO_PRICE, expiresAt, first };
}
