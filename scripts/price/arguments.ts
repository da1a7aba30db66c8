/** The command line of `npm run dev:price`. */
import { formatUnits, parseUnits } from "viem";
import { type AssetSymbol, assetSymbols } from "../../lib/products.ts";
import { UsageError } from "../usage-error.ts";

/** Decimals of a price feed's answers. */
export const FEED_DECIMALS = 8;

/** How a price changes. `hundredths` of a percent of the current price, or a new price in USD with 8 decimals. */
export type PriceChange =
  | { readonly kind: "relative"; readonly hundredths: bigint }
  | { readonly kind: "absolute"; readonly price: bigint };

export type PriceCommand =
  | { readonly do: "help" }
  | { readonly do: "move"; readonly asset: AssetSymbol; readonly change: PriceChange };

export const usage = `npm run dev:price -- BTC -7%        the price of BTC on the dev stack falls by 7 percent
npm run dev:price -- ETH +2.5%      it rises by 2.5 percent
npm run dev:price -- BTC 58500.25   it is this many USD from now on`;

/** Far above any real price, and far below the contracts' limit (uint128 with 18 decimals). */
const HIGHEST_PRICE = parseUnits("1000000000", FEED_DECIMALS);
const WHOLE = 10_000n;

const fault = (text: string) => new UsageError(`${text}\n\n${usage}`);

function assetOf(text: string): AssetSymbol {
  const asset = assetSymbols.find((symbol) => symbol === text.toUpperCase());
  if (asset === undefined) throw fault(`${text}: the asset must be ${assetSymbols.join(" or ")}`);
  return asset;
}

function changeOf(text: string): PriceChange {
  const [, percent] = /^([+-]\d{1,4}(?:\.\d{1,2})?)%$/.exec(text) ?? [];
  if (percent !== undefined) {
    const hundredths = parseUnits(percent.replace("+", ""), 2);
    if (hundredths <= -WHOLE) throw fault(`${text}: a price can fall by less than 100 percent only`);
    return { kind: "relative", hundredths };
  }
  if (text.endsWith("%"))
    throw fault(`${text}: a percentage needs a sign and has two decimals at most, such as -7% or +2.5%`);
  if (!/^\d{1,10}(\.\d{1,8})?$/.test(text))
    throw fault(`${text}: must be a percentage with its sign, or a price in USD with 8 decimals at most`);
  const price = parseUnits(text, FEED_DECIMALS);
  if (price === 0n) throw fault(`${text}: a price must be above zero`);
  if (price > HIGHEST_PRICE)
    throw fault(`${text}: a price must be at most ${formatUnits(HIGHEST_PRICE, FEED_DECIMALS)} USD`);
  return { kind: "absolute", price };
}

/** Parses the command line. @throws {UsageError} when it is invalid. */
export function parsePriceArguments(argv: readonly string[]): PriceCommand {
  if (argv.includes("--help") || argv.includes("-h")) return { do: "help" };
  const [asset, change, ...rest] = argv;
  if (asset === undefined || change === undefined) throw fault("an asset and a change are required");
  if (rest.length > 0) throw fault(`unexpected argument ${rest.join(" ")}`);
  return { do: "move", asset: assetOf(asset), change: changeOf(change) };
}

/**
 * The price after a change, rounded down; both have 8 decimals.
 * @throws {UsageError} when it would be zero, or higher than the highest price
 */
export function changedPrice(price: bigint, change: PriceChange): bigint {
  if (change.kind === "absolute") return change.price;
  const changed = (price * (WHOLE + change.hundredths)) / WHOLE;
  if (changed === 0n || changed > HIGHEST_PRICE)
    throw fault(`the price would be ${formatUnits(changed, FEED_DECIMALS)} USD`);
  return changed;
}
