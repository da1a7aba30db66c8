/** The operations of an OpenAPI document. */
import type { ApiOperation, OpenApi } from "../../support/openapi.ts";
import type { Schema } from "../../support/schema-checker.ts";

export type Operation = ApiOperation & {
  /** In lowercase, as in the document. */
  readonly method: string;
  /** The path with its parameters in braces. */
  readonly path: string;
  /** The kind of credential that the operation asks for. */
  readonly guard: "none" | "apiKey" | "adminToken";
};

/** Every operation of a document, in its order. */
export const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const schemes = operation.security?.flatMap((alternative) => Object.keys(alternative)) ?? [];
      const isOptional = operation.security?.some((alternative) => Object.keys(alternative).length === 0);
      const required = isOptional ? [] : schemes;
      const guard = required.includes("apiKey") ? "apiKey" : required.length > 0 ? "adminToken" : "none";
      return { ...operation, method, path, guard };
    }),
  );

/** The schema of an operation's body; undefined when it takes none. */
export const bodySchema = ({ requestBody }: Operation): Schema | undefined =>
  requestBody?.content["application/json"]?.schema;

/** The codes that the document has for a status of the operation, with their examples. */
export const codesOf = ({ responses }: Operation, status: number): Readonly<Record<string, unknown>> =>
  responses[String(status)]?.content?.["application/json"]?.examples ?? {};

/** The methods that the document has for an address, whichever template describes it. */
export function methodsAt({ paths }: OpenApi, pathname: string): string[] {
  const matching = Object.entries(paths).filter(([template]) => {
    const pattern = template.replace(/[.]/g, "\\.").replace(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${pattern}$`).test(pathname);
  });
  const methods = matching.flatMap(([, operations]) => Object.keys(operations));
  return [...new Set(methods)].map((method) => method.toUpperCase());
}
