import { type Hex, keccak256, stringToHex } from "viem";

/**
 * The six flash shields of release V5.4. The deployed contracts emit no event with their names, assets, durations and drops. Where
 * a deployment emits `ProductTermsSet`, that event overrides these terms.
 */
const HOUR = 3600n;
const shields = [
  { name: "FLASHBTC1H-001", symbol: "BTC", durationSeconds: HOUR, triggerDropBps: 250 },
  { name: "FLASHBTC24-001", symbol: "BTC", durationSeconds: 24n * HOUR, triggerDropBps: 600 },
  { name: "FLASHBTC48-001", symbol: "BTC", durationSeconds: 48n * HOUR, triggerDropBps: 1000 },
  { name: "FLASHETH1H-001", symbol: "ETH", durationSeconds: HOUR, triggerDropBps: 400 },
  { name: "FLASHETH24-001", symbol: "ETH", durationSeconds: 24n * HOUR, triggerDropBps: 850 },
  { name: "FLASHETH48-001", symbol: "ETH", durationSeconds: 48n * HOUR, triggerDropBps: 1400 },
] as const;

export type KnownTerms = {
  name: string;
  asset: Hex;
  durationSeconds: bigint;
  triggerDropBps: number;
};

const byId: ReadonlyMap<string, KnownTerms> = new Map(
  shields.map(({ name, symbol, ...terms }) => [
    keccak256(stringToHex(name)),
    { name, asset: stringToHex(symbol, { size: 32 }), ...terms },
  ]),
);

/** The terms of a product by its id (keccak256 of its name); undefined for any other product. */
export const knownTerms = (productId: string): KnownTerms | undefined => byId.get(productId.toLowerCase());
