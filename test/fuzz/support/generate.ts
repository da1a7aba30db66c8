/** Generates requests of an operation from its schemas. */
import fc from "fast-check";
import type { ApiParameter } from "../../support/openapi.ts";
import type { Schema, Schemas } from "../../support/schema-checker.ts";
import { bodySchema, type Operation } from "./operations.ts";
import type { Body, Credential, Pairs, Parts } from "./requests.ts";
import {
  fieldsOf,
  flatten,
  invalidTexts,
  invalidValues,
  strangeTexts,
  strangeValues,
  validValues,
} from "./values.ts";

type NamedValues = Readonly<Record<string, readonly unknown[]>>;

/** What a valid request of an operation needs beside its schemas. */
export type KnownValues = {
  /** By parameter or field: values for most requests, in place of generated ones. */
  readonly often?: NamedValues;
  /** Values for all requests, where the document has a rule in words; undefined leaves the name out. */
  readonly always?: NamedValues;
  /** Whole bodies for most requests. */
  readonly bodies?: readonly Body[];
  /** By default the owner's key or the admin token, whichever the operation asks for. */
  readonly credential?: Credential;
};

export type Generating = {
  readonly schemas: Schemas;
  /** By operation. */
  readonly known: Readonly<Record<string, KnownValues>>;
};

export const usualCredential = { none: "none", apiKey: "owner", adminToken: "admin" } as const;

/** Known values three times as often as generated ones. */
const often = <T>(known: readonly T[] = [], generated: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  known.length > 0 ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, generated) : generated;

type Named = { readonly name: string; readonly schema: Schema; readonly required?: boolean };

/** Valid values by name; a name that may be left out sometimes is. */
function record({ schemas }: Generating, known: KnownValues, names: readonly Named[]) {
  const values = names.map(({ name, schema, required = false }) => {
    const always = known.always?.[name];
    if (always) return [name, fc.constantFrom(...always)] as const;
    const given = often(known.often?.[name], validValues(schemas, schema));
    return [name, required ? given : fc.option(given, { nil: undefined })] as const;
  });
  return fc.record<Record<string, unknown>>(Object.fromEntries(values));
}

const asTexts = (values: Body): Pairs =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));

/** A page is named by `cursor` or by `offset`, not by both. */
const oneMeansOfPaging = (query: Pairs): Pairs =>
  query.some(([name]) => name === "cursor") ? query.filter(([name]) => name !== "offset") : query;

/** A period ends after it begins. */
const inOrder =
  (first: string, last: string) =>
  (query: Pairs): Pairs => {
    const times = new Map(query);
    const [from, to] = [times.get(first), times.get(last)];
    if (from === undefined || to === undefined || BigInt(from) < BigInt(to)) return query;
    return query.filter(([name]) => name !== last);
  };

/** A series is short, and its product belongs to a metric of products. */
function seriesOf(query: Pairs): Pairs {
  const metric = new Map(query).get("metric");
  if (metric === undefined) return query;
  const ofProduct = ["premiums", "cover", "policies", "payouts", "triggers"].includes(metric);
  return query.filter(([name]) => name !== "from" && (ofProduct || name !== "product"));
}

/** A purchase without waiting needs a key. */
const preferenceWithKey = (headers: Pairs): Pairs =>
  headers.some(([name]) => name === "Idempotency-Key")
    ? headers
    : headers.filter(([name]) => name !== "Prefer");

/** Texts that a header can carry, without the spaces around them. */
const forHeader = (text: string) => /^[\x20-\x7e\xa0-\xff]*$/.test(text) && text.trim() === text;

/** Valid requests: their values match the schemas, and the rules that the document states only in words. */
export function validParts(generating: Generating, operation: Operation): fc.Arbitrary<Parts> {
  const known = generating.known[operation.operationId] ?? {};
  const texts = (place: ApiParameter["in"]): fc.Arbitrary<Pairs> => {
    const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === place);
    return record(generating, known, parameters).map(asTexts);
  };
  const schema = bodySchema(operation);
  const { properties, required } = fieldsOf(generating.schemas, schema ?? {});
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    required: required.includes(name),
  }));
  return fc.record<Parts>({
    path: texts("path").map((pairs) => Object.fromEntries(pairs)),
    query: texts("query")
      .map(oneMeansOfPaging)
      .map(inOrder("from", "to"))
      .map(inOrder("expiresFrom", "expiresTo"))
      .map(seriesOf),
    headers: texts("header")
      .filter((pairs) => pairs.every(([, text]) => forHeader(text)))
      .map(preferenceWithKey),
    body: schema ? often(known.bodies, record(generating, known, fields)) : fc.constant(undefined),
    credential: fc.constant(known.credential ?? usualCredential[operation.guard]),
  });
}

/** One way to make a request invalid. */
export type Break = {
  /** The name that the refusal must mention. */
  readonly field: string;
  readonly about: string;
  readonly apply: (parts: Parts) => Parts;
};

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 80);

function parameterBreaks({ schemas }: Generating, { name, in: place, required, schema }: ApiParameter) {
  const part = place === "query" ? "query" : "headers";
  const withTexts = (about: string | undefined, ...texts: readonly string[]): Break => ({
    field: name,
    about: `${place} ${name} is ${about}`,
    apply: (parts) => {
      if (place === "path") return { ...parts, path: { ...parts.path, [name]: texts.join() } };
      const others = parts[part].filter(([other]) => other !== name);
      return { ...parts, [part]: [...others, ...texts.map((text) => [name, text] as const)] };
    },
  });
  const missing = required && place !== "path" ? [fc.constant(withTexts("missing"))] : [];
  const broken = invalidTexts(schemas, schema);
  if (!broken) return missing;
  // Without a text, or as a step, the address is another one.
  const fits = (text: string) =>
    place === "path" ? !/^\.{0,2}$/.test(text) : place === "query" || forHeader(text);
  const one = broken.filter(fits).map((text) => withTexts(shown(text), text));
  if (place === "path") return [one];
  const valid = validValues(schemas, schema).map(String);
  return [...missing, one, fc.tuple(valid, valid).map((texts) => withTexts("sent twice", ...texts))];
}

function fieldBreaks({ schemas }: Generating, schema: Schema) {
  const { properties, required, either } = fieldsOf(schemas, schema);
  const without = (names: readonly string[]) =>
    fc.constant<Break>({
      field: names[0] ?? "",
      about: `body without ${names.join(" and ")}`,
      apply: (parts) => ({
        ...parts,
        body: { ...parts.body, ...Object.fromEntries(names.map((name) => [name, undefined])) },
      }),
    });
  return [
    ...[...required.map((name) => [name]), either].filter(({ length }) => length > 0).map(without),
    ...Object.entries(properties).map(([name, field]) =>
      // Null counts as absent.
      invalidValues(schemas, field)
        .filter((value) => value !== null || required.includes(name))
        .map(
          (value): Break => ({
            field: name,
            about: `body ${name} is ${shown(value)}`,
            apply: (parts) => ({ ...parts, body: { ...parts.body, [name]: value } }),
          }),
        ),
    ),
  ];
}

/** Names that no operation knows. */
const unknownNames = ["constructor", "toString", "unknown", "limit[]", "Limit", "max_premium", "a b", "💥"];

/** A name that the operation does not know, in the query, or in its body or an object within. */
function unknownBreaks({ schemas }: Generating, schema: Schema | undefined): fc.Arbitrary<Break>[] {
  const short = strangeTexts.filter(({ length }) => length < 1000);
  const inQuery = fc.tuple(fc.constantFrom(...unknownNames), fc.constantFrom(...short)).map(
    ([name, text]): Break => ({
      field: name,
      about: `unknown ${name} in the query`,
      apply: (parts) => ({ ...parts, query: [[name, text], ...parts.query] }),
    }),
  );
  if (!schema) return [inQuery];
  const value = fc.constantFrom(...strangeValues.filter((strange) => strange !== null));
  const inBody = fc.tuple(fc.constantFrom(...unknownNames, "__proto__"), value).map(
    ([name, sent]): Break => ({
      field: name,
      about: `unknown ${name} in the body`,
      apply: (parts) => ({ ...parts, body: { ...Object.fromEntries([[name, sent]]), ...parts.body } }),
    }),
  );
  const { properties } = fieldsOf(schemas, schema);
  const within = Object.entries(properties)
    .filter(([, property]) => flatten(schemas, property).type === "object")
    .map(([name, property]) =>
      validValues(schemas, property).map(
        (valid): Break => ({
          field: `${name}.unknown`,
          about: `unknown name in ${name}`,
          apply: (parts) => ({
            ...parts,
            body: { ...parts.body, [name]: Object.assign({ unknown: 1 }, valid) },
          }),
        }),
      ),
    );
  return [inQuery, inBody, ...within];
}

/** Every way to make a request of the operation invalid by one value or name. */
export function breaks(generating: Generating, operation: Operation): fc.Arbitrary<Break> {
  const schema = bodySchema(operation);
  return fc.oneof(
    ...unknownBreaks(generating, schema),
    ...(operation.parameters ?? []).flatMap((parameter) => parameterBreaks(generating, parameter)),
    ...(schema ? fieldBreaks(generating, schema) : []),
  );
}
