import fc from "fast-check";
import { expect, test } from "vitest";
import { amountText, percentText, type Unit, units } from "../../dashboard/format/amount.ts";
import { duration } from "../../dashboard/format/time.ts";

const names: readonly Unit[] = ["usdc", "dollars", "token", "ether", "gwei", "feedPrice", "price", "count"];

/** The integer behind a shown amount. */
function integerOf(text: string, unit: Unit): bigint {
  const [whole = "", fraction = ""] = text.replaceAll(",", "").replace("−", "-").split(".");
  return BigInt(whole + fraction.padEnd(units[unit].decimals, "0"));
}

test("an amount keeps every digit, whatever its size", () => {
  const amounts = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 256n });
  fc.assert(
    fc.property(amounts, fc.constantFrom(...names), (value, unit) => {
      expect(integerOf(amountText(value, unit), unit)).toBe(value);
    }),
  );
});

test("an amount is cut, never rounded up, and filled up to the digits that are wanted", () => {
  expect(amountText("1999999", "usdc", { digits: 2 })).toBe("1.99");
  expect(amountText("-1999999", "usdc", { digits: 0 })).toBe("−1");
  expect(amountText("1000000", "usdc")).toBe("1.00");
  expect(amountText("1000000", "usdc", { least: 0 })).toBe("1");
  expect(amountText("1500000", "usdc", { least: 4 })).toBe("1.5000");
  expect(amountText("214350000000", "usdc", { least: 0 })).toBe("214,350");
});

test("a ratio becomes a percentage by moving its digits", () => {
  expect(percentText("0.082150")).toBe("8.215 %");
  expect(percentText("14.940552")).toBe("1,494.0552 %");
  expect(percentText("14.940552", 2)).toBe("1,494.05 %");
  expect(percentText("-0.050000")).toBe("−5 %");
  expect(percentText("1")).toBe("100 %");
});

test("a duration has its two largest units", () => {
  expect(duration(0)).toBe("0 s");
  expect(duration(59)).toBe("59 s");
  expect(duration(3600)).toBe("1 h");
  expect(duration(11_520)).toBe("3 h 12 min");
  expect(duration(90_061)).toBe("1 d 1 h");
});
