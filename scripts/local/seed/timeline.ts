/** The clock and the prices of the seeded history. */
import type { LocalAccount } from "viem";
import { assetSymbols } from "../../../lib/products.ts";
import {
  chainTime,
  nextBlockAt,
  type Protocol,
  pushPrice,
  setTokenPrice,
} from "../protocol/actions/index.ts";

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Prices in USD: of the feeds with 8 decimals, of the token in dollars. */
type Prices = { readonly BTC: bigint; readonly ETH: bigint; readonly token: string };

const wave = (days: number, period: number, phase: number) => Math.sin((days / period) * 2 * Math.PI + phase);
const usd = (price: number) => BigInt(Math.round(price * 1e8));

/** The made-up prices of a day: slow waves that are the same in each run, with the token between 0.08 and 0.13 USD. */
export const pricesOf = (daysAgo: number): Prices => ({
  BTC: usd(62_000 + 9_000 * wave(daysAgo, 310, 0) + 1_500 * wave(daysAgo, 23, 1)),
  ETH: usd(3_100 + 450 * wave(daysAgo, 270, 2) + 120 * wave(daysAgo, 17, 0)),
  token: (0.105 + 0.015 * wave(daysAgo, 190, 1) + 0.008 * wave(daysAgo, 13, 0)).toFixed(8),
});

export type Timeline = {
  /** Moves the chain to `secondsAgo` before the present and sets that time's prices. */
  readonly at: (secondsAgo: number) => Promise<void>;
  /** Moves the chain there without new prices. */
  readonly withoutPricesAt: (secondsAgo: number) => Promise<void>;
};

/** A timeline whose present is `now`, in Unix seconds. `reporter` pushes the prices. */
export function createTimeline(protocol: Protocol, reporter: LocalAccount, now: bigint): Timeline {
  const withoutPricesAt = async (secondsAgo: number) => {
    const wanted = now - BigInt(secondsAgo);
    const newest = await chainTime(protocol);
    // A chain that also mines by time may already be there.
    if (wanted > newest) await nextBlockAt(protocol, wanted);
  };
  return {
    withoutPricesAt,
    async at(secondsAgo) {
      await withoutPricesAt(secondsAgo);
      const prices = pricesOf(secondsAgo / DAY);
      for (const feed of assetSymbols) await pushPrice(protocol, reporter, feed, prices[feed]);
      await setTokenPrice(protocol, reporter, prices.token);
    },
  };
}
