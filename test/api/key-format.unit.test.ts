import { expect, test } from "vitest";
import { generateKey, hashKey, isWellFormedKey } from "../../api/http/api-keys.ts";

test("generated keys are well formed, unique, and hashed by SHA-256", () => {
  const keys = Array.from({ length: 1000 }, generateKey);
  expect(keys.every(isWellFormedKey)).toBe(true);
  expect(new Set(keys).size).toBe(1000);
  // A known digest: another hash would invalidate the issued keys.
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
])("%j is not a key", (text) => {
  expect(isWellFormedKey(text)).toBe(false);
});
