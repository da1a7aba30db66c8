import { expect, test } from "vitest";
import { traceparentOf } from "../../lib/trace-context.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

test.each([
  `00-${trace}-${parent}-01`,
  `00-${trace}-${parent}-00`,
  `cc-${trace}-${parent}-01-what-comes-later`,
])("%s is a trace", (header) => {
  expect(traceparentOf(header)).toBe(header);
});

test.each([
  undefined,
  "",
  "trace",
  `00-${trace}-${parent}`,
  `00-${trace}-${parent}-01-more`,
  `00-${trace}-${parent}-01\n`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${"0".repeat(32)}-${parent}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `ff-${trace}-${parent}-01`,
  `cc-${trace}-${parent}-01-${"x".repeat(300)}`,
  `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
])("%j is ignored", (header) => {
  expect(traceparentOf(header)).toBeUndefined();
});
