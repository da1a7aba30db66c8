import { describe, expect, test } from "vitest";
import { MAX_FAILURES, parseRetryAfter, retryDelay } from "../../workers/webhooks/retry-schedule.ts";

const [MINUTE, HOUR] = [60, 3600];
const steps = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR, 24 * HOUR];

describe("the delay after a failure", () => {
  test.each(steps.map((seconds, index) => ({ failures: index + 1, seconds })))(
    "$failures: $seconds s, ten per cent more or less",
    ({ failures, seconds }) => {
      expect(retryDelay(failures, null, 0)).toBeCloseTo(seconds * 0.9);
      expect(retryDelay(failures, null, 0.5)).toBeCloseTo(seconds);
      expect(retryDelay(failures, null, 1)).toBeCloseTo(seconds * 1.1);
    },
  );

  test("there is none after the last", () => {
    expect(MAX_FAILURES).toBe(7);
    expect(retryDelay(7, null)).toBeUndefined();
    expect(retryDelay(8, 10)).toBeUndefined();
  });

  test.each([
    { failures: 1, retryAfter: 10, delay: MINUTE, what: "a shorter one has no effect" },
    { failures: 1, retryAfter: 120, delay: 120, what: "a longer one is respected" },
    { failures: 1, retryAfter: 300, delay: 300, what: "up to the next step" },
    { failures: 1, retryAfter: 301, delay: 300, what: "and not beyond it" },
    { failures: 5, retryAfter: 999_999, delay: 24 * HOUR, what: "late in the schedule too" },
    { failures: 6, retryAfter: 999_999, delay: 24 * HOUR, what: "and not beyond the last step" },
  ])("Retry-After: $what", ({ failures, retryAfter, delay }) => {
    expect(retryDelay(failures, retryAfter, 0.5)).toBeCloseTo(delay);
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  test.each([
    ["120", 120],
    [" 7 ", 7],
    ["0", 0],
    ["Sat, 21 Nov 2026 12:01:30 GMT", 90],
    ["Saturday, 21-Nov-26 12:01:30 GMT", 90],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
    ["", null],
    ["-5", null],
    ["1.5", null],
    ["soon", null],
    ["2026", 2026],
    ["2026-11-21T13:00:00Z", null],
    ["99999999999", null],
    [undefined, null],
  ])("parses %j to %j", (header, seconds) => {
    expect(parseRetryAfter(header, now)).toBe(seconds);
  });
});
