/** Prices, rounds and the sequencer's status from the contracts, in the format of the expected rows. */
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { priceAggregatorAbi } from "../../../abis/PriceAggregator.ts";
import { priceFeedAbi } from "../../../abis/PriceFeed.ts";
import { priceFeedProxyAbi } from "../../../abis/PriceFeedProxy.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { assetBytes32 } from "../../../lib/products.ts";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import type { TestClient } from "../../support/chain.ts";
import type { Row } from "./rows.ts";

/** What a policy's shield stores of its prices, 18 decimals, with the barrier of 8 decimals that follows from the product's fall. */
export async function shieldTerms(client: TestClient, adapter: `0x${string}`, policyId: bigint) {
  const views = { abi: shieldAdapterAbi, address: adapter } as const;
  const [address, productId] = await Promise.all([
    client.readContract({ ...views, functionName: "shield" }),
    client.readContract({ ...views, functionName: "productId" }),
  ]);
  const shield = { abi: flashShieldAbi, address } as const;
  const [[, , price, , endsAt], asset] = await Promise.all([
    client.readContract({ ...shield, functionName: "getPolicyInfo", args: [policyId] }),
    client.readContract({ ...shield, functionName: "asset" }),
  ]);
  const terms = allTerms.find((known) => known.productId === productId);
  if (!terms) throw new Error(`${productId} is no product of the deployment`);
  const barrier = (price * BigInt(10_000 - terms.triggerDropBps)) / 10_000n;
  const [strike, triggerPrice] = [price * FEED_TO_PRICE, barrier * FEED_TO_PRICE];
  return { shield: address, strike, endsAt, triggerPrice, asset };
}

/** Every round of the covered assets' feeds, from the logs of their aggregators. */
export async function rounds(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const found: Row[] = [];
  for (const [symbol, address] of [
    ["BTC", contracts.btcUsdFeed],
    ["ETH", contracts.ethUsdFeed],
  ] as const) {
    const proxy = { abi: priceFeedProxyAbi, address } as const;
    const newest = await client.readContract({ ...proxy, functionName: "phaseId" });
    for (let phase = 1; phase <= newest; phase++) {
      const args = [phase] as const;
      const aggregator = await client.readContract({ ...proxy, functionName: "phaseAggregators", args });
      const logs = await client.getContractEvents({
        abi: priceAggregatorAbi,
        eventName: "AnswerUpdated",
        address: aggregator,
        fromBlock: 0n,
        strict: true,
      });
      for (const { args: round, ...log } of logs) {
        found.push({
          asset: assetBytes32(symbol),
          round_id: ((BigInt(phase) << 64n) | round.roundId).toString(),
          phase,
          answer: round.current.toString(),
          updated_at: round.updatedAt.toString(),
          block_number: log.blockNumber.toString(),
          block_hash: log.blockHash,
          log_index: log.logIndex,
          tx_hash: log.transactionHash,
        });
      }
    }
  }
  return found;
}

/** The newest round of each covered asset's feed, as the shields read it. */
export async function newestRounds(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const { btcUsdFeed, ethUsdFeed } = contracts;
  const feeds = { BTC: btcUsdFeed, ETH: ethUsdFeed } as const;
  const read = { abi: priceFeedAbi, functionName: "latestRoundData" } as const;
  return Promise.all(
    Object.entries(feeds).map(async ([symbol, address]) => {
      const [roundId, answer, , updatedAt] = await client.readContract({ ...read, address });
      return {
        asset: assetBytes32(symbol),
        round_id: roundId.toString(),
        phase: Number(roundId >> 64n),
        answer: answer.toString(),
        updated_at: updatedAt.toString(),
      };
    }),
  );
}

/** Every status that the sequencer's feed has reported, from its logs. */
export async function sequencerEvents(client: TestClient, { contracts }: Deployment): Promise<Row[]> {
  const logs = await client.getContractEvents({
    ...{ abi: priceAggregatorAbi, eventName: "AnswerUpdated", address: contracts.sequencerFeed },
    ...{ fromBlock: 0n, strict: true },
  });
  return logs.map(({ args: { current, updatedAt }, ...log }) => ({
    up: current === 0n,
    started_at: updatedAt.toString(),
    block_number: log.blockNumber.toString(),
    block_hash: log.blockHash,
    log_index: log.logIndex,
    tx_hash: log.transactionHash,
  }));
}

/** The status of the sequencer. */
export async function sequencer(client: TestClient, { contracts }: Deployment): Promise<Row> {
  const feed = { abi: priceFeedAbi, address: contracts.sequencerFeed } as const;
  const [, answer, startedAt] = await client.readContract({ ...feed, functionName: "latestRoundData" });
  return { id: "sequencer", up: answer === 0n, started_at: startedAt.toString() };
}
