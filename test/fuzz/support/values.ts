/** Values that a schema allows, and values that it does not. */
import fc from "fast-check";
import { type Schema, SchemaChecker, type Schemas } from "../../support/schema-checker.ts";

/** The most code points of a generated text without a limit of its own. */
const MAX_TEXT = 40;
const MAX_ITEMS = 4;

/** A schema without references and without `allOf`. */
export function flatten(schemas: Schemas, schema: Schema): Schema {
  const { allOf = [], ...own } = new SchemaChecker(schemas).resolve(schema);
  const flat: Schema = {};
  for (const part of allOf) Object.assign(flat, flatten(schemas, part));
  return Object.assign(flat, own);
}

/** The fields of an object; of one with alternatives, those of all of them. `either`: names of which it needs one. */
export function fieldsOf(schemas: Schemas, schema: Schema) {
  const checker = new SchemaChecker(schemas);
  const { anyOf, ...own } = checker.resolve(schema);
  const parts = (anyOf ?? [own]).map((part) => checker.resolve(part));
  const needed = parts.map(({ required = [] }) => required);
  const required = needed.reduce((all, names) => all.filter((name) => names.includes(name)));
  return {
    properties: Object.fromEntries(parts.flatMap(({ properties = {} }) => Object.entries(properties))),
    required,
    either: [...new Set(needed.flat())].filter((name) => !required.includes(name)),
  };
}

function texts({ format, pattern, maxLength = MAX_TEXT }: Schema): fc.Arbitrary<string> {
  if (format === "uint256") return fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String);
  // As long as allowed, and longer in bytes and UTF-16 units.
  const longest = ["0", "9", "f", "x", "ä", "💥"].map((character) => character.repeat(maxLength));
  const rule = new RegExp(pattern ?? "");
  const edges = longest.filter((text) => rule.test(text)).map((text) => fc.constant(text));
  const usual =
    pattern === undefined
      ? fc.oneof(fc.string({ maxLength }), fc.string({ unit: "binary", maxLength }))
      : fc.stringMatching(rule);
  return fc.oneof({ weight: 3, arbitrary: usual }, ...edges);
}

/** Objects of the named properties; one that may be left out sometimes is. */
function objects(schemas: Schemas, { properties = {}, required = [] }: Schema): fc.Arbitrary<unknown> {
  const values = Object.entries(properties).map(
    ([name, part]) => [name, validValues(schemas, part)] as const,
  );
  return fc.record<Record<string, unknown>>(Object.fromEntries(values), { requiredKeys: required });
}

function valuesOf(schemas: Schemas, rules: Schema): fc.Arbitrary<unknown> {
  if (rules.anyOf) return fc.oneof(...rules.anyOf.map((part) => validValues(schemas, part)));
  if (rules.enum) return fc.constantFrom(...rules.enum);
  const { minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER } = rules;
  const { items = {}, minItems: minLength = 0, maxItems: maxLength = MAX_ITEMS } = rules;
  if (rules.type === "string") return texts(rules);
  if (rules.type === "integer") return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
  if (rules.type === "array") return fc.array(validValues(schemas, items), { minLength, maxLength });
  if (rules.type === "boolean") return fc.boolean();
  if (rules.type === "object") return objects(schemas, rules);
  throw new Error(`the fuzz has no values of type ${rules.type}`);
}

/** Values that match a schema, with the ends of each range and length among them. */
export const validValues = (schemas: Schemas, schema: Schema): fc.Arbitrary<unknown> =>
  valuesOf(schemas, flatten(schemas, schema)).filter((value) =>
    new SchemaChecker(schemas).accepts(value, schema),
  );

/** Texts that have confused parsers, validators and databases. */
export const strangeTexts: readonly string[] = [
  ...["", " ", "null", "true", "undefined", "NaN", "Infinity", "[object Object]", "*", "\t1", "1\n"],
  ...["-1", "+1", "1.5", "1e3", "0x10", "-0", "1_000", "1,000", "٣", "½", "１２"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty"],
  ...["\u0000", "a\u0000b", "\ud800", "💥", "e\u0301", "\u202e", "\uffff", "ä ö"],
  ...["../..", "..", "%00", "%", "%zz", "/", "a/b", "a?b#c", "'; drop table service.api_key; --", "<script>"],
  ...[2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 2n ** 256n, 10n ** 78n].map(String),
  ...["9".repeat(400), "x".repeat(5000), "💥".repeat(101), `0x${"0".repeat(63)}g`, `0x${"0".repeat(65)}`],
];

export const strangeValues: readonly unknown[] = [
  ...[null, true, false, -1, 0, 1, 1.5, -0.5, 1e308, 5e-324, 2 ** 31, 2 ** 53, 2 ** 63, 2 ** 256],
  ...[[], [[]], [null], {}, { toString: 1 }, { length: 1 }, JSON.parse('{"__proto__":{"a":1}}')],
  ...strangeTexts,
];

/** Values that nearly match: just outside of a range, a character more or less, inside a list or an object. */
function nearMisses(schemas: Schemas, schema: Schema): fc.Arbitrary<unknown> {
  const { minimum: min = 0, maximum: max = 0 } = flatten(schemas, schema);
  return validValues(schemas, schema).chain((value) => {
    // An object without a prototype has no text of its own.
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return fc.constantFrom<unknown>(
      ...[
        [value],
        { value },
        text.slice(0, -1),
        text.slice(1),
        text + text,
        `-${text}`,
        `${text}.5`,
        `${text}e1`,
      ],
      ...[` ${text}`, `${text} `, `${text}\n`, `${text}\u0000`, `${text},${text}`, text.replace("0x", "0X")],
      ...[typeof value === "string" ? Number(text) : text, min - 1, min - 0.5, max + 1, max + 0.5],
      ...(Array.isArray(value) ? [[...value, null], Array(1000).fill(value[0])] : []),
    );
  });
}

/** Values that do not match a schema. */
export const invalidValues = (schemas: Schemas, schema: Schema): fc.Arbitrary<unknown> =>
  fc
    .oneof(fc.constantFrom(...strangeValues), nearMisses(schemas, schema))
    .filter((value) => !new SchemaChecker(schemas).accepts(value, schema));

/** The texts of a parameter that do not match its schema; undefined when every text does. */
export function invalidTexts(schemas: Schemas, schema: Schema): fc.Arbitrary<string> | undefined {
  const { type, pattern, format, enum: names } = flatten(schemas, schema);
  if (type === "string" && pattern === undefined && format === undefined && names === undefined)
    return undefined;
  const matches = (text: string) => {
    const isNumber = type === "integer" && /^\d+$/.test(text);
    return new SchemaChecker(schemas).accepts(isNumber ? Number(text) : text, schema);
  };
  const near = nearMisses(schemas, schema).map((value) =>
    typeof value === "object" ? JSON.stringify(value) : String(value),
  );
  return fc.oneof(fc.constantFrom(...strangeTexts), near).filter((text) => !matches(text));
}
