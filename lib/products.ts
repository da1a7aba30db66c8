import { type Hex, keccak256, stringToHex } from "viem";

/** The names of the six flash shields of release V5.4, which clients may use in place of product ids. */
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

/** A product's terms without a getter in the contracts: the fall that triggers, in basis points, and the cover's length in seconds. */
export type ProductTerms = { triggerDropBps: number; durationSeconds: number };
export type CatalogueEntry<Name extends string = string> = ProductTerms & {
  name: Name;
  productId: Hex;
  symbol: AssetSymbol;
  asset: Hex;
};

/** keccak256 of the UTF-8 bytes of a product's name. */
export const productIdOf = (name: string): Hex => keccak256(stringToHex(name));

/** An asset symbol as bytes32: ASCII, padded with zeros on the right. */
export const assetBytes32 = (symbol: string): Hex => stringToHex(symbol, { size: 32 });

/** A product by its name, asset and terms. */
export const entryOf = <Name extends string>(
  name: Name,
  symbol: AssetSymbol,
  terms: ProductTerms,
): CatalogueEntry<Name> => ({
  name,
  productId: productIdOf(name),
  symbol,
  asset: assetBytes32(symbol),
  ...terms,
});

const HOUR = 3_600;
const termsOfName: Readonly<Record<ProductName, ProductTerms>> = {
  "FLASHBTC1H-001": { triggerDropBps: 250, durationSeconds: HOUR },
  "FLASHBTC24-001": { triggerDropBps: 600, durationSeconds: 24 * HOUR },
  "FLASHBTC48-001": { triggerDropBps: 1_000, durationSeconds: 48 * HOUR },
  "FLASHETH1H-001": { triggerDropBps: 400, durationSeconds: HOUR },
  "FLASHETH24-001": { triggerDropBps: 850, durationSeconds: 24 * HOUR },
  "FLASHETH48-001": { triggerDropBps: 1_400, durationSeconds: 48 * HOUR },
};

/** One of the six products. */
export function catalogueEntry(name: ProductName): CatalogueEntry<ProductName> {
  return entryOf(name, name.startsWith("FLASHBTC") ? "BTC" : "ETH", termsOfName[name]);
}

/** The six products. A deployment file may name more; see {@link catalogueOf}. */
export const catalogue: readonly CatalogueEntry<ProductName>[] = productNames.map(catalogueEntry);

/** A product that the deployment file adds: the catalogue is closed, the chain is not. */
export type ExtraProduct = ProductTerms & { name: string; asset: AssetSymbol };

/** The six products and those of a deployment file. */
export const catalogueOf = ({
  products,
}: {
  products: readonly ExtraProduct[];
}): readonly CatalogueEntry[] => [
  ...catalogue,
  ...products.map(({ name, asset, ...terms }) => entryOf(name, asset, terms)),
];

/** Whether a catalogue entry has this id. */
export const isSameProduct = (productId: string) => (entry: CatalogueEntry) =>
  entry.productId === productId.toLowerCase();
export const entryByName = (name: string): CatalogueEntry<ProductName> | undefined =>
  catalogue.find((e) => e.name === name);
export const entryById = (productId: string): CatalogueEntry<ProductName> | undefined =>
  catalogue.find(isSameProduct(productId));

/** Smallest coverage of a purchase: 100 USDC, 6 decimals. */
export const MINIMUM_COVERAGE = 100_000_000n;
