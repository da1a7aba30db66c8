import type { ChainHead } from "../chain/block.ts";
import type { ProtocolState } from "../chain/contracts/protocol-state.ts";
import type { LiveStatsBody } from "./routes.ts";

const TOKEN = 10n ** 18n;
const USDC = 1_000_000n;

/** A fixed-point number as text with two places, rounded down. */
function twoPlaces(value: bigint, unit: bigint): string {
  const cents = (value * 100n) / unit;
  return `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
}

/** A part of a whole as a percentage with two places, rounded down; 0.00% of nothing. */
const percent = (part: bigint, whole: bigint): string =>
  `${whole === 0n ? "0.00" : twoPlaces(part * 100n, whole)}%`;

/** A price with 18 decimals as a number with 6 places, rounded to the nearest. */
const toNumber = (price: bigint): number => Number((price + 5n * 10n ** 11n) / 10n ** 12n) / 1e6;

export type ReadFigures = ProtocolState & { readonly block: ChainHead; readonly readAt: Date };

/** The figures as clients of this protocol know them, each also in base units. */
export function liveStatsBody(
  figures: ReadFigures,
  chain: { readonly chainId: number; readonly name: string },
  stale: boolean,
): LiveStatsBody {
  const { reserve, committed, capacity, totalSupply, block, readAt } = figures;
  const tokenPrice = figures.tokenPrice.price ?? 0n;
  const price = {
    usd: toNumber(tokenPrice),
    price: String(tokenPrice),
    // The oracle's price is that of the block.
    updatedAt: tokenPrice === 0n ? "0" : String(block.timestamp),
    source: "priceOracle",
  };
  const reserved = twoPlaces(reserve, TOKEN);
  const supply = (totalSupply / TOKEN).toLocaleString("en-US");
  return {
    tokenPrice: price,
    luminaPrice: price,
    bondReserve: {
      token: reserved,
      lumina: reserved,
      usd: twoPlaces(reserve * tokenPrice, TOKEN * TOKEN),
      amount: String(reserve),
      source: "bondVault",
    },
    capacity: {
      usedPercent: percent(committed, committed + capacity),
      committedUSD: String(committed / USDC),
      availableUSD: String(capacity / USDC),
      committed: String(committed),
      available: String(capacity),
      source: "bondVault",
    },
    totalSupply: { token: supply, lumina: supply, amount: String(totalSupply), source: "protocolToken" },
    chainStatus: { chainId: chain.chainId, name: chain.name, blockNumber: Number(block.number) },
    lastUpdated: readAt.toISOString(),
    stale,
  };
}
