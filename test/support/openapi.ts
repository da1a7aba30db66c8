/** Compares every response with the server's OpenAPI document. */
import { expect } from "vitest";
import { z } from "zod";
import { type HttpAnswer, type HttpRequest, http } from "./http.ts";
import { jsonSchema, SchemaChecker } from "./schema-checker.ts";

const header = z.object({ $ref: z.string().optional(), schema: jsonSchema.optional() });

const mediaTypes = z.record(
  z.string(),
  z.object({ schema: jsonSchema, examples: z.record(z.string(), z.unknown()).optional() }),
);

const parameter = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean().optional(),
  schema: jsonSchema,
});

const operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(parameter).optional(),
  requestBody: z.object({ required: z.boolean().optional(), content: mediaTypes }).optional(),
  responses: z.record(
    z.string(),
    z.object({
      description: z.string(),
      headers: z.record(z.string(), header).optional(),
      content: mediaTypes.optional(),
    }),
  ),
});

const openApi = z.object({
  openapi: z.literal("3.0.3"),
  info: z.object({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    schemas: z.record(z.string(), jsonSchema),
    headers: z.record(z.string(), header).optional(),
    securitySchemes: z.unknown(),
  }),
});

export type OpenApi = z.output<typeof openApi>;
export type ApiOperation = z.output<typeof operation>;
export type ApiParameter = z.output<typeof parameter>;

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
  const checker = new SchemaChecker(document.components.schemas);
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

/** The faults of an operation's response, one line each. A response to HEAD has no body. */
export function responseFaults(
  { components: { schemas } }: OpenApi,
  { operationId, responses }: ApiOperation,
  method: string,
  answer: HttpAnswer,
): string[] {
  const response = responses[String(answer.status)];
  if (!response) return [`${operationId} documents no status ${answer.status}: ${answer.text.slice(0, 300)}`];
  if (method === "head") return [];
  if (!response.content) return answer.text === "" ? [] : [`${operationId} ${answer.status} has no body`];
  const type = bareType(answer) ?? "none";
  const content = response.content[type];
  if (!content) return [`${operationId} ${answer.status} documents no ${type}`];
  const checker = new SchemaChecker(schemas);
  if (type === "application/json") checker.check(answer.json, content.schema, "body");
  return checker.faults;
}

/** The faults of an error body, one line each. */
export function errorFaults({ components: { schemas } }: OpenApi, body: unknown): string[] {
  const checker = new SchemaChecker(schemas);
  checker.check(body, { $ref: "#/components/schemas/Error" }, "body");
  return checker.faults;
}

/** The faults of a response, one line each. An undocumented path must return an error. */
export function faultsOf(document: OpenApi, method: string, pathname: string, answer: HttpAnswer): string[] {
  const known = findOperation(document, method === "head" ? "get" : method, pathname);
  if (known) return responseFaults(document, known, method, answer);
  if (answer.status < 400)
    return [`${method} ${pathname} is not in the document and returned ${answer.status}`];
  return method === "head" ? [] : errorFaults(document, answer.json);
}

/** The document that a server of this worker's last file had: all have the same, but for their address. */
let known: { readonly text: string; readonly document: OpenApi } | undefined;

/** The parsed document of a server. @throws when it has keywords that this checker does not handle. */
export async function fetchOpenApi(apiUrl: string): Promise<OpenApi> {
  const { json, ...answer } = await http(`${apiUrl}/openapi.json`);
  const text = answer.text.replace(/"servers":\[.*?\],/, "");
  if (known?.text !== text) known = { text, document: openApi.parse(json) };
  return known.document;
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
