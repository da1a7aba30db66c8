/** Integers of the chain: decimal strings on the wire, bigints in programs. */
import { decimalFields } from "./generated/decimal-fields.ts";

/** A decimal string of the API. For the compiler it differs from other strings, and any string may take its place. */
export type Decimal = string & { readonly length: number; readonly decimal?: never };

/** A body whose amounts, prices, ids and times of the chain are bigints. */
export type WithBigints<Body> = Body extends string
  ? "decimal" extends keyof Body
    ? bigint
    : Body
  : Body extends readonly (infer Entry)[]
    ? readonly WithBigints<Entry>[]
    : Body extends object
      ? { readonly [Name in keyof Body]: WithBigints<Body[Name]> }
      : Body;

const names: ReadonlySet<string> = /* @__PURE__ */ new Set(/* @__PURE__ */ decimalFields.split(" "));
const isDigits = (value: unknown): value is string => typeof value === "string" && /^\d+$/.test(value);

/** A field with integers of the chain: one, a list of them, or an object that has the same name elsewhere. */
function converted(value: unknown): unknown {
  if (isDigits(value)) return BigInt(value);
  return Array.isArray(value) ? value.map(converted) : withBigints(value);
}

/** The body with each integer of the chain as a bigint. */
export function withBigints<Body>(body: Body): WithBigints<Body>;
export function withBigints(body: unknown): unknown {
  if (Array.isArray(body)) return body.map((entry: unknown) => withBigints(entry));
  if (typeof body !== "object" || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]: [string, unknown]) => [
      name,
      names.has(name) ? converted(value) : withBigints(value),
    ]),
  );
}
