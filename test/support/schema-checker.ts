/**
 * Checks values against the JSON schemas of an OpenAPI 3.0 document. A document with keywords that this does not handle is
 * rejected, so that none is ignored.
 */
import { z } from "zod";

/** The formats of strings that a document may name. `uint256` is ours: the decimal digits of an integer below 2^256. */
const formats = {
  uuid: (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
  "date-time": (text: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text),
  uint256: (text: string) => /^\d{1,78}$/.test(text) && BigInt(text) < 2n ** 256n,
} as const;

export type Schema = {
  $ref?: string;
  type?: "string" | "integer" | "number" | "boolean" | "object" | "array";
  nullable?: boolean;
  enum?: unknown[];
  pattern?: string;
  format?: keyof typeof formats;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | false;
  allOf?: Schema[];
  anyOf?: Schema[];
};

export const jsonSchema: z.ZodType<Schema> = z.lazy(() =>
  z.strictObject({
    $ref: z.string().optional(),
    type: z.enum(["string", "integer", "number", "boolean", "object", "array"]).optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.unknown()).optional(),
    pattern: z.string().optional(),
    format: z.enum(["uuid", "date-time", "uint256"]).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    items: jsonSchema.optional(),
    properties: z.record(z.string(), jsonSchema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.literal(false), jsonSchema]).optional(),
    allOf: z.array(jsonSchema).optional(),
    anyOf: z.array(jsonSchema).optional(),
    // Annotations without an effect on values.
    description: z.string().optional(),
    example: z.unknown().optional(),
    default: z.unknown().optional(),
  }),
);

/** The named schemas of a document. */
export type Schemas = Readonly<Record<string, Schema>>;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeOf(value) === "object";

/** Lists the faults of a value as lines of `path: fault`. Undocumented fields are faults too. */
export class SchemaChecker {
  readonly faults: string[] = [];
  readonly schemas: Schemas;

  constructor(schemas: Schemas) {
    this.schemas = schemas;
  }

  resolve({ $ref, ...rest }: Schema): Schema {
    if ($ref === undefined) return rest;
    const found = this.schemas[$ref.replace("#/components/schemas/", "")];
    if (!found) throw new Error(`the document refers to ${$ref}, which does not exist`);
    return this.resolve(found);
  }

  /** The fields of a schema with all its parts; undefined when it allows any. */
  fields(part: Schema): Set<string> | undefined {
    const { properties, additionalProperties, allOf = [] } = this.resolve(part);
    if (additionalProperties) return undefined;
    const names = new Set(Object.keys(properties ?? {}));
    for (const inner of allOf) {
      const more = this.fields(inner);
      if (!more) return undefined;
      for (const name of more) names.add(name);
    }
    return names;
  }

  check(value: unknown, reference: Schema, path: string, closed = true): void {
    const rules = this.resolve(reference);
    if (value === null && rules.nullable && rules.type) return;
    const fault = (text: string) =>
      this.faults.push(`${path}: ${text}, got ${JSON.stringify(value)?.slice(0, 200)}`);
    if (
      rules.type &&
      typeOf(value) !== rules.type &&
      !(rules.type === "number" && typeOf(value) === "integer")
    ) {
      fault(`must be of type ${rules.type}`);
      return;
    }
    if (rules.enum && !rules.enum.includes(value)) fault(`must be one of ${rules.enum.join(", ")}`);
    if (typeof value === "string") {
      if (rules.pattern && !new RegExp(rules.pattern).test(value)) fault(`must match ${rules.pattern}`);
      if (rules.format && !formats[rules.format](value)) fault(`must be a ${rules.format}`);
      // JSON Schema counts code points, not UTF-16 units.
      if (rules.maxLength !== undefined && [...value].length > rules.maxLength) fault("is too long");
    }
    if (typeof value === "number") {
      if (rules.minimum !== undefined && value < rules.minimum) fault(`must be at least ${rules.minimum}`);
      if (rules.maximum !== undefined && value > rules.maximum) fault(`must be at most ${rules.maximum}`);
    }
    if (Array.isArray(value) && rules.items) {
      const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = rules;
      if (value.length < minItems || value.length > maxItems)
        fault(`must have ${minItems} to ${maxItems} items`);
      for (const [index, item] of value.entries()) this.check(item, rules.items, `${path}[${index}]`);
    }
    // Alternatives without fields in common: the one that matches must name every field.
    const isUnion = rules.anyOf !== undefined && rules.properties === undefined;
    if (isRecord(value) && !isUnion) this.checkFields(value, rules, reference, path, closed);
    for (const part of rules.allOf ?? []) this.check(value, part, path, false);
    if (rules.anyOf && !rules.anyOf.some((part) => this.accepts(value, part, isUnion && closed)))
      fault("matches no alternative");
  }

  private checkFields(
    value: Record<string, unknown>,
    rules: Schema,
    reference: Schema,
    path: string,
    closed: boolean,
  ): void {
    for (const name of rules.required ?? []) {
      if (!Object.hasOwn(value, name)) this.faults.push(`${path}.${name}: is missing`);
    }
    for (const [name, inner] of Object.entries(rules.properties ?? {})) {
      if (Object.hasOwn(value, name)) this.check(value[name], inner, `${path}.${name}`);
    }
    const names = closed ? this.fields(reference) : undefined;
    for (const name of Object.keys(value)) {
      if (names && !names.has(name)) this.faults.push(`${path}.${name}: is not in the document`);
    }
  }

  /** True when the value matches; unless `closed`, it may have fields that the schema does not name. */
  accepts(value: unknown, part: Schema, closed = false): boolean {
    const attempt = new SchemaChecker(this.schemas);
    attempt.check(value, part, "", closed);
    return attempt.faults.length === 0;
  }
}
