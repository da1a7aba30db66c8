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

/** A product as the API specification defines it. */
export function productBody(terms: ProductTerms): ProductBody {
  const { triggerDropBps } = terms;
  const fall = triggerDropBps === null ? "far enough" : `${percent(triggerDropBps)} or more`;
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
    name: terms.name,
    displayName: `${symbol} flash shield, ${window}`,
    coveredAsset: symbol,
    paymentAsset: "USDC",
    coverageDescription:
      `Pays ${percent(terms.payoutRatioBps)} of the coverage in bonds if ${symbol} falls ` +
      `${fall} from its price at purchase within ${window}.`,
    asset: terms.asset,
    triggerDropBps,
    waitingSeconds: 0,
    legacy: false,
    paused: false,
  };
}
