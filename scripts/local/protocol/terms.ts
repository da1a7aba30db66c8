/** The terms of the reference deployment's products. */
import type { Hex } from "viem";
import { type AssetSymbol, assetBytes32, productIdOf } from "../../../lib/products.ts";

/** The payout is 80 % of the coverage. */
export const PAYOUT_RATIO_BPS = 8_000;
/** The premium is twice the expected cost of the payout. */
export const MARGIN_BPS = 20_000;

export type ProductTerms = {
  readonly name: string;
  readonly productId: Hex;
  readonly symbol: AssetSymbol;
  readonly asset: Hex;
  /** Millionths of the coverage: 2920 is 2.92 USD per 1000 USD. */
  readonly premiumPpm: number;
  /** The drop from the purchase price that triggers a payout, in basis points. */
  readonly triggerDropBps: number;
  readonly durationSeconds: number;
};

const HOUR = 3_600;

function terms(name: string, hours: number, premiumPpm: number, triggerDropBps: number): ProductTerms {
  const symbol: AssetSymbol = name.startsWith("FLASHBTC") ? "BTC" : "ETH";
  return {
    name,
    productId: productIdOf(name),
    symbol,
    asset: assetBytes32(symbol),
    premiumPpm,
    triggerDropBps,
    durationSeconds: hours * HOUR,
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

/** A product that is no longer sold. */
export const withdrawnTerms = terms("FLASHETH72-001", 72, 168_000, 1_800);

export const allTerms: readonly ProductTerms[] = [...catalogueTerms, withdrawnTerms];

/** The terms of a product. @throws when the deployment has no product with this name. */
export function termsOf(name: string): ProductTerms {
  const found = allTerms.find((product) => product.name === name);
  if (!found) throw new Error(`no product ${name}`);
  return found;
}

/** The probability of a trigger that a premium implies, in basis points, rounded. */
export const triggerProbBps = (premiumPpm: number): number =>
  Math.round(premiumPpm / 100 / (PAYOUT_RATIO_BPS / 10_000) / (MARGIN_BPS / 10_000));
