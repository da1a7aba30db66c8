/** Names of products and wallets as people read them. */

/** `FLASHBTC24-001` → `BTC 24 h`; another name stays as it is. */
export function productLabel(name: string | null): string {
  const [, asset, hours] = /^FLASH([A-Z]{3})(\d+)H?-\d+$/.exec(name ?? "") ?? [];
  return asset && hours ? `${asset} ${hours} h` : (name ?? "Unknown product");
}

/** `BTC 24 h, policy 3`: a product counts its policies from 1. */
export const policyLabel = (productName: string | null, policyId: string): string =>
  `${productLabel(productName)}, policy ${policyId}`;

/** The ends of an address or a hash: `0x3C44…93BC`. */
export const shortHex = (hex: string): string =>
  hex.length <= 12 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`;
