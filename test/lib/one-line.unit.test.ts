import { expect, test } from "vitest";
import { isOneLine } from "../../lib/one-line.ts";

test.each([
  "",
  "trading bot",
  "می\u200Cخواهم",
  "क्\u200Dष",
  "👩🏽\u200D💻",
  "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
  "❤\uFE0F 1\uFE0F\u20E3 🇪🇸",
])("%j is one line", (text) => {
  expect(isOneLine(text)).toBe(true);
});

test.each([
  ["a control character", "a\u0000"],
  ["a line end", "a\nb"],
  ["a line separator", "a\u2028b"],
  ["a paragraph separator", "a\u2029b"],
  ["an override of the direction", "a\u202Eb"],
  ["an isolate of the direction", "a\u2066b"],
  ["a mark of the direction", "a\u200Fb"],
  ["a hidden space", "a\u200Bb"],
  ["a word joiner", "a\u2060b"],
  ["a soft hyphen", "a\u00ADb"],
  ["a tag that belongs to no flag", "a\u{E0067}"],
  ["half a character", "a\uD83D"],
])("a text with %s is not", (_, text) => {
  expect(isOneLine(text)).toBe(false);
});
