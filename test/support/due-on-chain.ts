/** Which policies became due, and with which answer of their feed: slowly, from the chain's logs and the products' terms alone. */
import { type Address, type Hex, parseEventLogs } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../abis/PriceAggregator.ts";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { barrierOf, DWELL, FEED_TO_PRICE, MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { allTerms } from "../../scripts/local/protocol/terms.ts";
import type { TestChain } from "./chain.ts";

type Position = {
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
};
const byPosition = (a: Position, b: Position) =>
  Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex;

/** What a feed answers from a log on; `price` 0 for nothing. */
type Answer = {
  readonly log: Position;
  /** The time of the log's block. */
  readonly since: bigint;
  /** USD, 8 decimals. */
  readonly price: bigint;
  readonly updatedAt: bigint;
};

/** The answers that a feed gave in a second: the one from before it, and those that came in it and outlasted their block. */
function answersAt(answers: readonly Answer[], second: bigint): readonly Answer[] {
  const came = answers.filter(
    ({ log, since }, n) => since === second && answers[n + 1]?.log.blockNumber !== log.blockNumber,
  );
  return [...answers.filter(({ since }) => since < second).slice(-1), ...came];
}

type TimeOf = (blockNumber: bigint) => Promise<bigint>;

/** All answers of a feed, the oldest first, by playing the logs of its proxy and of every aggregator that it ever asked. */
async function readAnswers(client: TestChain["client"], feed: Address, timeOf: TimeOf): Promise<Answer[]> {
  const phases = await client.getContractEvents({
    ...{ abi: priceFeedProxyAbi, address: feed, eventName: "AggregatorConfirmed" },
    ...{ fromBlock: 0n, strict: true },
  });
  const rounds = await client.getContractEvents({
    ...{
      abi: priceAggregatorAbi,
      address: phases.map(({ args }) => args.latest),
      eventName: "AnswerUpdated",
    },
    ...{ fromBlock: 0n, strict: true },
  });
  const newest = new Map<string, { price: bigint; updatedAt: bigint }>();
  let asked = "";
  const answers: Answer[] = [];
  for (const log of [...phases, ...rounds].sort(byPosition)) {
    if (log.eventName === "AggregatorConfirmed") asked = log.args.latest.toLowerCase();
    else newest.set(log.address, { price: log.args.current, updatedAt: log.args.updatedAt });
    if (log.eventName === "AnswerUpdated" && log.address !== asked) continue;
    const { price, updatedAt } = newest.get(asked) ?? { price: 0n, updatedAt: 0n };
    answers.push({ log, since: await timeOf(log.blockNumber), price, updatedAt });
  }
  return answers;
}

export type TrueDue = Position & {
  readonly productId: Hex;
  readonly policyId: bigint;
  readonly buyer: Address;
  readonly coverage: bigint;
  readonly payout: bigint;
  /** USD, 18 decimals. */
  readonly triggerPrice: bigint;
  readonly expiresAt: bigint;
  /** The answer's price, USD with 18 decimals, and its update time. */
  readonly price: bigint;
  readonly priceAt: bigint;
  /** The first second in which the policy could be observed, if the sequencer is up. */
  readonly dueAt: bigint;
  /** The time of the answer's block. */
  readonly blockTime: bigint;
};

/** A purchase with what decides whether its policy can be observed. */
type Observable = Position & {
  readonly args: Pick<TrueDue, "productId" | "policyId" | "buyer" | "coverage" | "payout">;
  /** Its feed's answers, the oldest first. */
  readonly answers: readonly Answer[];
  /** USD, 8 decimals. */
  readonly barrier: bigint;
  /** The first and the last second in which it can be observed. */
  readonly begin: bigint;
  readonly end: bigint;
};

async function readPurchases({ client, deployment }: TestChain): Promise<Observable[]> {
  const { coverRouter, btcUsdFeed, ethUsdFeed } = deployment.contracts;
  const times = new Map<bigint, Promise<bigint>>();
  const timeOf: TimeOf = (blockNumber) => {
    const time =
      times.get(blockNumber) ?? client.getBlock({ blockNumber }).then(({ timestamp }) => timestamp);
    times.set(blockNumber, time);
    return time;
  };
  const feeds = {
    BTC: await readAnswers(client, btcUsdFeed, timeOf),
    ETH: await readAnswers(client, ethUsdFeed, timeOf),
  };
  const logs = await client.getLogs({ address: coverRouter, fromBlock: 0n });
  const purchases = parseEventLogs({ abi: coverRouterAbi, logs, eventName: "PolicyPurchased" });
  const all = await Promise.all(
    purchases.map(async ({ args, ...log }): Promise<Observable[]> => {
      const terms = allTerms.find(({ productId }) => productId === args.productId);
      const answers = feeds[terms?.symbol ?? "BTC"];
      const strike = answers.findLast((answer) => byPosition(answer.log, log) < 0)?.price;
      if (!terms || strike === undefined) return [];
      const { blockNumber, logIndex, blockHash, transactionHash } = log;
      const boughtAt = await timeOf(blockNumber);
      return [
        {
          ...{ args, blockNumber, logIndex, blockHash, transactionHash, answers },
          barrier: barrierOf(strike, terms.triggerDropBps),
          begin: boughtAt + BigInt(DWELL),
          end: boughtAt + BigInt(terms.durationSeconds),
        },
      ];
    }),
  );
  return all.flat();
}

/** Whether the answer lets a policy be observed at a time. */
const isObserved = ({ price, updatedAt }: Answer, { barrier }: Observable, time: bigint): boolean =>
  price > 0n && price <= barrier && updatedAt <= time && time - updatedAt <= MAX_PRICE_AGE;

/** The policies that became due by the newest block, in the order of their answers, and for one answer by their time, product and policy. */
export async function dueOnChain(chain: TestChain): Promise<TrueDue[]> {
  const { client, deployment } = chain;
  const { timestamp: now } = await client.getBlock();
  const address = deployment.contracts.policyManager;
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const triggers = parseEventLogs({ abi: policyManagerAbi, logs, eventName: "PolicyTriggered" });
  const due = (await readPurchases(chain)).flatMap((purchase): TrueDue[] => {
    const { args, answers, barrier, begin, end } = purchase;
    // Only at these seconds the policy can begin to be observable.
    const moments = [begin, ...answers.flatMap(({ since, updatedAt }) => [since, updatedAt])]
      .filter((time) => time >= begin && time <= end && time <= now)
      .sort((a, b) => Number(a - b));
    for (const dueAt of moments) {
      const newest = answersAt(answers, dueAt).find((answer) => isObserved(answer, purchase, dueAt));
      if (!newest) continue;
      const { blockNumber, logIndex, blockHash, transactionHash } = newest.log;
      const isPaid = triggers.some(
        (other) =>
          other.args.productId === args.productId &&
          other.args.policyId === args.policyId &&
          other.blockNumber <= blockNumber,
      );
      if (isPaid) return [];
      return [
        {
          ...{ ...args, blockNumber, logIndex, blockHash, transactionHash, expiresAt: end, dueAt },
          triggerPrice: barrier * FEED_TO_PRICE,
          price: newest.price * FEED_TO_PRICE,
          priceAt: newest.updatedAt,
          blockTime: newest.since,
        },
      ];
    }
    return [];
  });
  const byPolicy = (a: TrueDue, b: TrueDue) =>
    a.productId === b.productId ? Number(a.policyId - b.policyId) : a.productId < b.productId ? -1 : 1;
  return due.sort((a, b) => byPosition(a, b) || Number(a.dueAt - b.dueAt) || byPolicy(a, b));
}

/** Finds the policies whose feed stayed at or below their barrier over `blocks` blocks in which they could be observed. */
export async function fallenFor(
  chain: TestChain,
  blocks: bigint,
): Promise<Pick<TrueDue, "productId" | "policyId">[]> {
  return (await readPurchases(chain)).flatMap((purchase) => {
    const { args, answers, begin, end } = purchase;
    let from: bigint | undefined;
    for (const answer of answers.filter(({ since }) => since >= begin && since <= end)) {
      const { blockNumber } = answer.log;
      if (isObserved(answer, purchase, answer.since)) from ??= blockNumber;
      else from = undefined;
      if (from !== undefined && blockNumber - from >= blocks) return [args];
    }
    return [];
  });
}
