import { keccak256, toBytes } from "viem";
import { expect, test } from "vitest";
import { catalogue, entryById, entryByName } from "../../lib/products.ts";

test("a product id is the keccak256 of the name, and the asset is right-padded ASCII", () => {
  const entry = entryByName("FLASHETH24-001");
  expect(entry?.productId).toBe(keccak256(toBytes("FLASHETH24-001")));
  expect(entry?.asset).toBe(`0x455448${"0".repeat(58)}`);
});

test("finds a product by id in any case", () => {
  for (const entry of catalogue)
    expect(entryById(entry.productId.toUpperCase().replace("0X", "0x"))).toBe(entry);
});

test.each(["FLASHBTC4H-001", "flashbtc1h-001", "", "constructor", "FLASHBTC1H-001 "])(
  "finds no product named %j",
  (name) => {
    expect(entryByName(name)).toBeUndefined();
  },
);
