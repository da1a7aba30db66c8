/** The arguments of `npm run dev:price`: what they mean, and that a wrong one is named. */
import { expect, test } from "vitest";
import { changedPrice, parsePriceArguments } from "../../../scripts/price/arguments.ts";

const relative = (hundredths: bigint) => ({ kind: "relative", hundredths });
const absolute = (price: bigint) => ({ kind: "absolute", price });

test.each([
  [["BTC", "-7%"], "BTC", relative(-700n)],
  [["eth", "+2.5%"], "ETH", relative(250n)],
  [["BTC", "-0.01%"], "BTC", relative(-1n)],
  [["BTC", "-99.99%"], "BTC", relative(-9999n)],
  [["BTC", "+9999%"], "BTC", relative(999_900n)],
  [["BTC", "58500.25"], "BTC", absolute(5_850_025_000_000n)],
  [["Eth", "0.00000001"], "ETH", absolute(1n)],
  [["BTC", "1000000000"], "BTC", absolute(10n ** 17n)],
])("%j is understood", (argv, asset, change) => {
  expect(parsePriceArguments(argv)).toEqual({ do: "move", asset, change });
});

test("--help is asked for, whatever else is there", () => {
  expect(parsePriceArguments(["--help"])).toEqual({ do: "help" });
  expect(parsePriceArguments(["DOGE", "-h"])).toEqual({ do: "help" });
});

test.each([
  [[], /an asset and a change are required/],
  [["BTC"], /an asset and a change are required/],
  [["DOGE", "-7%"], /^DOGE: the asset must be BTC or ETH/],
  [["BTC", "7%"], /^7%: a percentage needs a sign/],
  [["BTC", "-7.123%"], /^-7.123%: a percentage needs a sign and has two decimals at most/],
  [["BTC", "-%"], /^-%: a percentage/],
  [["BTC", "-100%"], /^-100%: a price can fall by less than 100 percent only/],
  [["BTC", "-5000%"], /can fall by less than 100 percent only/],
  [["BTC", "-7"], /^-7: must be a percentage with its sign, or a price/],
  [["BTC", "1e5"], /^1e5: must be/],
  [["BTC", "0"], /^0: a price must be above zero/],
  [["BTC", "1.123456789"], /8 decimals at most/],
  [["BTC", "1000000000.00000001"], /a price must be at most 1000000000 USD/],
  [["BTC", ""], /^: must be/],
  [["BTC", "-7%", "now"], /^unexpected argument now/],
])("%j is refused with the fault and the usage", (argv, fault) => {
  expect(() => parsePriceArguments(argv)).toThrow(fault);
  expect(() => parsePriceArguments(argv)).toThrow(/npm run dev:price -- BTC -7%/);
});

test("a change is of the current price, rounded down, and leaves a price", () => {
  const price = 6_326_220_648_001n;
  expect(changedPrice(price, { kind: "relative", hundredths: -700n })).toBe((price * 93n) / 100n);
  expect(changedPrice(price, { kind: "relative", hundredths: 0n })).toBe(price);
  expect(changedPrice(price, { kind: "absolute", price: 5n })).toBe(5n);
  expect(() => changedPrice(1n, { kind: "relative", hundredths: -1n })).toThrow(/the price would be 0 USD/);
  expect(() => changedPrice(10n ** 17n, { kind: "relative", hundredths: 1n })).toThrow(
    /would be 1000100000 USD/,
  );
});
