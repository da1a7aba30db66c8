import { expect, test } from "vitest";
import { generateKey, hashKey, isWellFormedKey } from "../../api/http/key-format.ts";

test("keys are well formed, all different, and hashed by SHA-256", () => {
  const keys = Array.from({ length: 1000 }, generateKey);
  expect(keys.every(isWellFormedKey)).toBe(true);
  expect(new Set(keys).size).toBe(1000);
  // The digest of a known text, so that keys which were issued stay valid.
  expect(hashKey(`lk_${"0".repeat(64)}`)).toBe(
    "74251a84032f9185916439454ca49a4a85e8e1b8e605cff5a43b8cc04f909f90",
  );
});

test.each([
  "",
  "lk_",
  `lk_${"a".repeat(63)}`,
  `lk_${"a".repeat(65)}`,
  `lk_${"A".repeat(64)}`,
  `LK_${"a".repeat(64)}`,
  ` lk_${"a".repeat(64)}`,
  `lk_${"a".repeat(64)}\n`,
])("%j is no key", (text) => {
  expect(isWellFormedKey(text)).toBe(false);
});
