import { expect, test } from "vitest";
import { traceparentOf } from "../../lib/trace-context.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";

test.each(["00", "01", "02", "03"])("of version 00 with flags %s is passed on as it is", (flags) => {
  const header = `00-${trace}-${parent}-${flags}`;
  expect(traceparentOf(header)).toBe(header);
});

test.each([
  [`cc-${trace}-${parent}-01-what-comes-later`, `00-${trace}-${parent}-01`],
  [`cc-${trace}-${parent}-00`, `00-${trace}-${parent}-00`],
  [`00-${trace}-${parent}-fd`, `00-${trace}-${parent}-01`],
])("%s is passed on with the fields and flags of version 00", (header, passedOn) => {
  expect(traceparentOf(header)).toBe(passedOn);
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
