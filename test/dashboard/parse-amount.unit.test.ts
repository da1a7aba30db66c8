import fc from "fast-check";
import { expect, test } from "vitest";
import { amountText, type Unit } from "../../dashboard/format/amount.ts";
import { parseAmount } from "../../dashboard/format/parse-amount.ts";

test("an amount that is shown and written down again is the same, to the last digit", () => {
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 30n - 1n });
  const names: readonly Unit[] = ["usdc", "dollars", "token"];
  fc.assert(
    fc.property(amounts, fc.constantFrom(...names), (value, unit) => {
      const written = amountText(value, unit).replaceAll(",", "");
      expect(parseAmount(written, unit)).toEqual({ ok: true, value });
    }),
  );
});

test("what is not an amount is refused with the rule", () => {
  for (const text of ["", "abc", "1,5", "1.", ".5", "-1", "1e3", "0x10", "١", "9".repeat(31)])
    expect([text, parseAmount(text, "usdc")]).toEqual([
      text,
      { ok: false, rule: "Write digits and one point, such as 1234.50." },
    ]);
  expect(parseAmount("1.2345678", "usdc")).toMatchObject({ rule: "Write at most 6 digits after the point." });
  expect(parseAmount("1.5", "dollars")).toMatchObject({ rule: "Write a whole number." });
  expect(parseAmount("x", "dollars")).toMatchObject({ rule: "Write digits only, such as 250." });
  expect(parseAmount("0.000", "usdc")).toMatchObject({ rule: "Write more than zero." });
});
