import { type Hex, keccak256, stringToHex } from "viem";

/**
 * The catalogue of release V5.4: the names of the six flash shields, which clients may use in place of product ids. Terms,
 * prices and states are read from the chain.
 */
export const productNames = [
  "FLASHBTC1H-001",
  "FLASHBTC24-001",
  "FLASHBTC48-001",
  "FLASHETH1H-001",
  "FLASHETH24-001",
  "FLASHETH48-001",
] as const;
export type ProductName = (typeof productNames)[number];
/** The covered assets; each has a price feed. */
export const assetSymbols = ["BTC", "ETH"] as const;
export type AssetSymbol = (typeof assetSymbols)[number];

export type CatalogueEntry = { name: ProductName; productId: Hex; symbol: AssetSymbol; asset: Hex };

/** keccak256 of the UTF-8 bytes of a product's name. */
export const productIdOf = (name: string): Hex => keccak256(stringToHex(name));

/** An asset symbol as bytes32: ASCII, padded with zeros on the right. */
export const assetBytes32 = (symbol: string): Hex => stringToHex(symbol, { size: 32 });

/** The product id and asset of a name in the catalogue. */
export function entryOf(name: ProductName): CatalogueEntry {
  const symbol = name.startsWith("FLASHBTC") ? "BTC" : "ETH";
  return { name, productId: productIdOf(name), symbol, asset: assetBytes32(symbol) };
}

export const catalogue: readonly CatalogueEntry[] = productNames.map(entryOf);

export const entryByName = (name: string): CatalogueEntry | undefined =>
  catalogue.find((e) => e.name === name);
export const entryById = (productId: string): CatalogueEntry | undefined =>
  catalogue.find((e) => e.productId === productId.toLowerCase());

/** Smallest coverage of a purchase: 100 USDC, 6 decimals. */
export const MINIMUM_COVERAGE = 100_000_000n;
