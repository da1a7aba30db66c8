import { expect, test } from "vitest";
import { epochName, epochStart } from "../../dashboard/format/epoch.ts";
import { impliedYield, ofFace } from "../../dashboard/pages/market/face.ts";

const YEAR = 365 * 86_400;

test("a bond's price is a ratio of its face value, cut to six digits", () => {
  expect(ofFace("920000")).toBe("0.920000");
  expect(ofFace("1125000")).toBe("1.125000");
  expect(ofFace("0")).toBe("0.000000");
});

test("the yield is what the face value brings above the price, by the year until maturity", () => {
  expect(impliedYield("800000", YEAR, 0)).toBe("0.250000");
  expect(impliedYield("800000", YEAR / 2, 0)).toBe("0.500000");
  expect(impliedYield("980000", 1_861_919_999, 1_861_919_999 - 62_613_600)).toBe("0.010278");
});

test("a price above the face value has a yield below zero", () => {
  expect(impliedYield("1250000", YEAR, 0)).toBe("-0.200000");
});

test("there is no yield from maturity on, nor for a price of 0", () => {
  expect(impliedYield("800000", YEAR, YEAR)).toBeNull();
  expect(impliedYield("800000", YEAR, YEAR + 1)).toBeNull();
  expect(impliedYield("0", YEAR, 0)).toBeNull();
});

test("an epoch is the month of maturity", () => {
  expect(epochName("202812")).toBe("Dec 2028");
  expect(epochStart("202801")).toBe(Date.UTC(2028, 0) / 1000);
});
