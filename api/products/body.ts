import { entryById } from "../../lib/products.ts";
import type { ProductTerms } from "../chain/contracts/products.ts";
import type { ProductBody } from "./schemas.ts";

/** A duration in words: hours, or seconds where it is not a whole number of hours. */
function span(seconds: number): string {
  const [count, unit] = seconds % 3600 === 0 ? [seconds / 3600, "hour"] : [seconds, "second"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const percent = (bps: number): string => `${bps / 100}%`;

/** An asset's symbol: the ASCII text of a bytes32, padded with zeros on the right. */
export const symbolOf = (asset: string): string =>
  Buffer.from(asset.slice(2), "hex").toString("latin1").replace(/\0+$/, "");

/** A product as the API specification defines it. `indexedName` is used when the catalogue has no name. */
export function productBody(terms: ProductTerms, indexedName: string | undefined): ProductBody {
  const symbol = symbolOf(terms.asset);
  const window = span(terms.durationSeconds);
  return {
    productId: terms.productId,
    shield: terms.shield,
    payoutRatioBps: terms.payoutRatioBps,
    triggerProbBps: terms.triggerProbBps,
    marginBps: terms.marginBps,
    durationSeconds: terms.durationSeconds,
    active: terms.active,
    name: entryById(terms.productId)?.name ?? indexedName ?? null,
    displayName: `${symbol} flash shield, ${window}`,
    coveredAsset: symbol,
    paymentAsset: "USDC",
    coverageDescription:
      `Pays ${percent(terms.payoutRatioBps)} of the coverage in bonds if ${symbol} falls ` +
      `${percent(terms.triggerDropBps)} or more from its price at purchase within ${window}.`,
    asset: terms.asset,
    triggerDropBps: terms.triggerDropBps,
    premiumPpm: terms.premiumPpm,
    waitingSeconds: 0,
    legacy: false,
    paused: false,
  };
}
