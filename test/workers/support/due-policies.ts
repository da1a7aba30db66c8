/** Policies and price rounds on a chain of event emitters: any logs in any order, at chosen times. */
import {
  type Address,
  type Hex,
  keccak256,
  stringToHex,
  type TransactionReceipt,
  zeroAddress,
  zeroHash,
} from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { priceAggregatorAbi } from "../../../abis/PriceAggregator.ts";
import { entryById } from "../../../lib/products.ts";
import { type EmitterChain, type Entry, entry } from "../../src/support/emitter-chain.ts";

/** A day's cover of BTC: it is triggered by a fall of 6 %. */
export const DAY_PRODUCT: Hex = keccak256(stringToHex("FLASHBTC24-001"));
export const HOUR_PRODUCT: Hex = keccak256(stringToHex("FLASHBTC1H-001"));
/** BTC in USD with 8 decimals: the price of all purchases, and one below every trigger price. */
export const PRICE = 6_000_000_000_000n;
export const FALLEN = 5_000_000_000_000n;
const DOLLAR = 1_000_000n;
const SECONDS_PER_BLOCK = 2n;

export type DuePolicies = ReturnType<typeof openDuePolicies>;

export function openDuePolicies({ client, contracts, shields, emit }: EmitterChain, buyer: Address) {
  let rounds = 0n;
  let policies = 0n;

  /** Writes the logs in one block, two seconds or `seconds` after the newest; `logs` gets the block's time. */
  async function block(
    logs: (now: bigint) => readonly Entry[],
    seconds = SECONDS_PER_BLOCK,
  ): Promise<TransactionReceipt> {
    const timestamp = (await client.getBlock()).timestamp + seconds;
    await client.setNextBlockTimestamp({ timestamp });
    return emit(...logs(timestamp));
  }
  /** The id of the next round, counted. */
  const nextRound = () => ++rounds;
  const round = (current: bigint, updatedAt: bigint, roundId = nextRound()): Entry =>
    entry(contracts.btcUsdFeed, priceAggregatorAbi, "AnswerUpdated", { current, roundId, updatedAt });
  /** The logs of the next policy's purchase in a block of this time, or of one whose key comes again. */
  const purchase = (
    start: bigint,
    { productId = DAY_PRODUCT, payout = 400n * DOLLAR, policyId = ++policies } = {},
  ): Entry[] => {
    const coverage = 500n * DOLLAR;
    const args = { productId, policyId, buyer, coverage, premium: 7n, payout };
    const expiresAt = start + BigInt(entryById(productId)?.durationSeconds ?? 0);
    return [
      entry(shields.get(productId)?.shield ?? zeroAddress, flashShieldAbi, "PolicyCreated", {
        ...{ policyId, holder: buyer, coverage, strikePrice: PRICE, startTimestamp: start, expiresAt },
      }),
      entry(contracts.policyManager, policyManagerAbi, "PolicyCreated", args),
      entry(contracts.coverRouter, coverRouterAbi, "PolicyPurchased", { ...args, paidBy: buyer }),
    ];
  };

  return {
    ...{ block, nextRound, round, purchase },
    /** The id of the newest policy. */
    newest: () => policies,
    triggered: (policyId: bigint): Entry =>
      entry(contracts.policyManager, policyManagerAbi, "PolicyTriggered", {
        ...{ productId: DAY_PRODUCT, policyId, buyer, bondAmount: 400n, reason: zeroHash },
      }),
    /** A round at the usual price, and then a purchase, in one block. @returns the policy's id. */
    async buy(options?: Parameters<typeof purchase>[1]): Promise<bigint> {
      await block((now) => [round(PRICE, now), ...purchase(now, options)]);
      return policies;
    },
    /** A round below every trigger price, in a block of its own, two seconds or `seconds` after the newest. */
    fall: (seconds?: bigint) => block((now) => [round(FALLEN, now)], seconds),
  };
}
