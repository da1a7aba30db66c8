/**
 * Compares every response with the server's OpenAPI document. The checker rejects a document with keywords that it does not
 * handle, so that none is ignored.
 */
import { expect } from "vitest";
import { z } from "zod";
import { type HttpAnswer, type HttpRequest, http } from "./http.ts";

type Schema = {
  $ref?: string;
  type?: "string" | "integer" | "number" | "boolean" | "object" | "array";
  nullable?: boolean;
  enum?: unknown[];
  pattern?: string;
  format?: "uuid" | "date-time";
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
};

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.strictObject({
    $ref: z.string().optional(),
    type: z.enum(["string", "integer", "number", "boolean", "object", "array"]).optional(),
    nullable: z.boolean().optional(),
    enum: z.array(z.unknown()).optional(),
    pattern: z.string().optional(),
    format: z.enum(["uuid", "date-time"]).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    items: schema.optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: schema.optional(),
    allOf: z.array(schema).optional(),
    anyOf: z.array(schema).optional(),
    // Annotations without an effect on values.
    description: z.string().optional(),
    example: z.unknown().optional(),
    default: z.unknown().optional(),
  }),
);

const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string(),
      content: z.record(z.string(), z.object({ schema, examples: z.unknown().optional() })).optional(),
    }),
  ),
});

const openApi = z.object({
  openapi: z.literal("3.0.3"),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema), securitySchemes: z.unknown() }),
});

export type OpenApi = z.output<typeof openApi>;

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
} as const;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeOf(value) === "object";

/** Lists the faults of a value as lines of `path: fault`. Undocumented fields are faults too. */
class Checker {
  readonly faults: string[] = [];
  constructor(readonly document: OpenApi) {}

  resolve({ $ref, ...rest }: Schema): Schema {
    if ($ref === undefined) return rest;
    const found = this.document.components.schemas[$ref.replace("#/components/schemas/", "")];
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
      if (rules.format && !formats[rules.format].test(value)) fault(`must be a ${rules.format}`);
      if (rules.maxLength !== undefined && value.length > rules.maxLength) fault("is too long");
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
    if (isRecord(value)) this.checkFields(value, rules, reference, path, closed);
    for (const part of rules.allOf ?? []) this.check(value, part, path, false);
    if (rules.anyOf && !rules.anyOf.some((part) => this.accepts(value, part)))
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

  private accepts(value: unknown, part: Schema): boolean {
    const attempt = new Checker(this.document);
    attempt.check(value, part, "", false);
    return attempt.faults.length === 0;
  }
}

const eventComponent = z.looseObject({
  properties: z.looseObject({ type: z.looseObject({ enum: z.tuple([z.string()]) }) }),
});

/** The faults of a delivered event, by the component with the same `type`. */
export function eventFaults(document: OpenApi, body: unknown): string[] {
  const { type } = z.object({ type: z.string() }).parse(body);
  const found = Object.entries(document.components.schemas).find(([, component]) => {
    const { data } = eventComponent.safeParse(component);
    return data?.properties.type.enum[0] === type;
  });
  if (!found) return [`the document has no event ${type}`];
  const checker = new Checker(document);
  checker.check(body, { $ref: `#/components/schemas/${found[0]}` }, type);
  return checker.faults;
}

const bareType = (answer: HttpAnswer) => answer.headers.get("content-type")?.split(";")[0]?.trim();

/** The operation of a request; undefined when the document has none. */
function findOperation(document: OpenApi, method: string, pathname: string) {
  const parts = pathname.split("/");
  for (const [template, operations] of Object.entries(document.paths)) {
    const wanted = template.split("/");
    const matches =
      wanted.length === parts.length &&
      wanted.every((part, index) => (part.startsWith("{") ? parts[index] !== "" : part === parts[index]));
    if (matches && operations[method]) return operations[method];
  }
  return undefined;
}

/** The faults of a response, one line each. An undocumented path must return an error. */
export function faultsOf(document: OpenApi, method: string, pathname: string, answer: HttpAnswer): string[] {
  const checker = new Checker(document);
  const body = method === "head" ? undefined : answer.json;
  const known = findOperation(document, method === "head" ? "get" : method, pathname);
  if (!known) {
    if (answer.status < 400)
      return [`${method} ${pathname} is not in the document and returned ${answer.status}`];
    if (method !== "head") checker.check(body, { $ref: "#/components/schemas/Error" }, "body");
    return checker.faults;
  }
  const response = known.responses[String(answer.status)];
  if (!response)
    return [`${known.operationId} documents no status ${answer.status}: ${answer.text.slice(0, 300)}`];
  if (method === "head") return [];
  if (!response.content)
    return answer.text === "" ? [] : [`${known.operationId} ${answer.status} has no body`];
  const type = bareType(answer) ?? "none";
  const content = response.content?.[type];
  if (!content) return [`${known.operationId} ${answer.status} documents no ${type}`];
  if (type === "application/json") checker.check(body, content.schema, "body");
  return checker.faults;
}

/** The parsed document of a server. @throws when it has keywords that this checker does not handle. */
export async function fetchOpenApi(apiUrl: string): Promise<OpenApi> {
  return openApi.parse((await http(`${apiUrl}/openapi.json`)).json);
}

export type CheckedRequest = (path: string, request?: HttpRequest) => Promise<HttpAnswer>;

/** Sends requests to a server and expects each response to match its document. */
export async function checkedRequests(apiUrl: string): Promise<CheckedRequest> {
  const document = await fetchOpenApi(apiUrl);
  return async (path, request = {}) => {
    const answer = await http(`${apiUrl}${path}`, request);
    const hasBody = request.body !== undefined || request.rawBody !== undefined;
    const method = (request.method ?? (hasBody ? "POST" : "GET")).toLowerCase();
    const { pathname } = new URL(`${apiUrl}${path}`);
    if (method !== "options")
      expect(faultsOf(document, method, pathname, answer), `${method} ${path}`).toEqual([]);
    return answer;
  };
}
