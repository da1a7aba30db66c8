/** The terms under which the reference deployment sells its products. */
import type { Hex } from "viem";
import { type AssetSymbol, assetBytes32, productIdOf } from "../../../lib/products.ts";

/** The payout is 80 % of the coverage: a deductible of 20 %. */
export const PAYOUT_RATIO_BPS = 8_000;
/** The premium is twice what the payout is expected to cost. */
export const MARGIN_BPS = 20_000;

/** Of the catalogue, of release V5.0 (policies without a price snapshot), or withdrawn from sale. */
export type ProductGeneration = "catalogue" | "legacy" | "withdrawn";

export type ProductTerms = {
  readonly name: string;
  readonly productId: Hex;
  readonly symbol: AssetSymbol;
  readonly asset: Hex;
  /** Millionths of the coverage: 2920 is 2.92 USD per 1000 USD. */
  readonly premiumPpm: number;
  /** The fall from the purchase price that triggers, in basis points. */
  readonly triggerDropBps: number;
  readonly durationSeconds: number;
  /** Cover begins this long after the purchase; part of the duration. */
  readonly waitingSeconds: number;
  readonly generation: ProductGeneration;
};

const HOUR = 3_600;

function terms(
  name: string,
  hours: number,
  premiumPpm: number,
  triggerDropBps: number,
  { waitingHours = 0, generation = "catalogue" as ProductGeneration } = {},
): ProductTerms {
  const symbol: AssetSymbol = name.startsWith("FLASHBTC") ? "BTC" : "ETH";
  return {
    name,
    productId: productIdOf(name),
    symbol,
    asset: assetBytes32(symbol),
    premiumPpm,
    triggerDropBps,
    durationSeconds: hours * HOUR,
    waitingSeconds: waitingHours * HOUR,
    generation,
  };
}

export const catalogueTerms: readonly ProductTerms[] = [
  terms("FLASHBTC1H-001", 1, 2_920, 250),
  terms("FLASHBTC24-001", 24, 52_600, 600),
  terms("FLASHBTC48-001", 48, 148_670, 1_000),
  terms("FLASHETH1H-001", 1, 1_680, 400),
  terms("FLASHETH24-001", 24, 45_800, 850),
  terms("FLASHETH48-001", 48, 123_010, 1_400),
];

/** The four-hour product of release V5.0: sold without a price snapshot, and paused since. */
export const legacyTerms = terms("FLASHBTC4H-001", 4, 9_800, 350, { generation: "legacy" });
/** A product with a waiting period that is no longer sold. */
export const withdrawnTerms = terms("FLASHETH72-001", 72, 168_000, 1_800, {
  waitingHours: 6,
  generation: "withdrawn",
});

export const allTerms: readonly ProductTerms[] = [...catalogueTerms, legacyTerms, withdrawnTerms];

/** The probability of a trigger that a premium implies, in basis points, rounded. */
export const triggerProbBps = (premiumPpm: number): number =>
  Math.round(premiumPpm / 100 / (PAYOUT_RATIO_BPS / 10_000) / (MARGIN_BPS / 10_000));
