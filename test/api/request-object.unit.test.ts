import { expect, test } from "vitest";
import { z } from "zod";
import { bodyOf, exceededBound } from "../../api/http/request-members.ts";
import { faultsOf, requestObject, unknownName } from "../../api/http/request-object.ts";

test.each([
  ["max_premium", ["coverageAmount", "maxPremium", "permit"], "maxPremium"],
  ["maxPremiumPerday", ["maxPremiumPerPurchase", "maxPremiumPerDay"], "maxPremiumPerDay"],
  ["scope", ["label", "scopes"], "scopes"],
  ["__proto__", ["limit"], "limit"],
])("the nearest known name of %s among %j is %s", (name, known, nearest) => {
  expect(unknownName(name, known)).toBe(`is unknown: the nearest known name is ${nearest}`);
});

test("each unknown name is a fault of its own, beside other faults, at any depth", () => {
  const schema = requestObject({
    limit: z.string(),
    permit: requestObject({ value: z.string() }).optional(),
  });
  const sent = JSON.parse(
    '{"limit":1,"a\\nb":1,"__proto__":{},"constructor":1,"permit":{"value":"1","valeu":2}}',
  );
  const { error } = schema.safeParse(sent);
  if (!error) throw new Error("the schema has accepted unknown names");
  expect(faultsOf(error).map(({ path, message }) => [path.join("."), message.split(":")[0]])).toEqual([
    ["limit", "Invalid input"],
    ["permit.valeu", "is unknown"],
    ["a b", "is unknown"],
    ["__proto__", "is unknown"],
    ["constructor", "is unknown"],
  ]);
});

test("of thousands of unknown names ten are told", () => {
  const names = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`n${n}`, ""]));
  const { error } = requestObject({ limit: z.string().optional() }).safeParse(names);
  if (!error) throw new Error("the schema has accepted unknown names");
  expect(faultsOf(error)).toHaveLength(10);
  expect(error.issues[0]?.message.split("\n")).toHaveLength(10);
});

test("a body has 200 members and 8 levels at most, and null members are absent", () => {
  expect(exceededBound(Array(200).fill(1))).toBeUndefined();
  expect(exceededBound(Array(201).fill(1))).toBe("must have 200 members at most");
  const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  expect(exceededBound(nested(9))).toBeUndefined();
  expect(exceededBound(nested(10))).toBe("must be nested 8 deep at most");
  const schema = bodyOf(z.strictObject({ a: z.string().optional(), b: z.array(z.unknown()) }));
  expect(schema.parse({ a: null, b: [null] })).toEqual({ b: [null] });
});
