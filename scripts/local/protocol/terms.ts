/** The terms of the reference deployment's products. */
import { type CatalogueEntry, catalogue, entryOf, type ProductName } from "../../../lib/products.ts";

/** The payout is 80 % of the coverage. */
export const PAYOUT_RATIO_BPS = 8_000;
/** The premium is twice the expected cost of the payout. */
export const MARGIN_BPS = 20_000;

export type ProductTerms = CatalogueEntry & {
  /** Millionths of the coverage: 2920 is 2.92 USD per 1000 USD. */
  readonly premiumPpm: number;
};

const premiums: Readonly<Record<ProductName, number>> = {
  "FLASHBTC1H-001": 2_920,
  "FLASHBTC24-001": 52_600,
  "FLASHBTC48-001": 148_670,
  "FLASHETH1H-001": 1_680,
  "FLASHETH24-001": 45_800,
  "FLASHETH48-001": 123_010,
};

export const catalogueTerms: readonly ProductTerms[] = catalogue.map((entry) => ({
  ...entry,
  premiumPpm: premiums[entry.name],
}));

/** A product of an earlier release that is no longer sold. */
export const retiredTerms: ProductTerms = {
  ...entryOf("FLASHBTC4H-001", "BTC", { triggerDropBps: 350, durationSeconds: 4 * 3_600 }),
  premiumPpm: 9_800,
};

export const allTerms: readonly ProductTerms[] = [...catalogueTerms, retiredTerms];

/** The terms of a product. @throws when the deployment has no product with this name. */
export function termsOf(name: string): ProductTerms {
  const found = allTerms.find((product) => product.name === name);
  if (!found) throw new Error(`no product ${name}`);
  return found;
}

/** The probability of a trigger that a premium implies, in basis points; a half is rounded down, as on the live chain. */
export const triggerProbBps = (premiumPpm: number): number =>
  Math.ceil(premiumPpm / 100 / (PAYOUT_RATIO_BPS / 10_000) / (MARGIN_BPS / 10_000) - 0.5);
