/** Generates `client/generated/`: the types of the API's operations, and the names of fields with integers of the chain. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";
import { replaceFiles } from "./replace-files.ts";

export const documentFile = join(projectRoot, "docs", "openapi.json");
const target = join(projectRoot, "client", "generated");

const document = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.looseObject({})) })),
  ),
});

/** The document without headers and failures, which every operation has alike: the client has types of its own for them. */
function withoutFailures(text: string): string {
  const { paths, ...rest } = document.parse(JSON.parse(text));
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));
    operation.responses = Object.fromEntries(
      successes.map(([status, { headers: _, ...response }]) => [status, response]),
    );
  }
  return JSON.stringify({ ...rest, paths });
}

const schemaObject = z.looseObject({
  $ref: z.string().optional(),
  type: z.unknown().optional(),
  pattern: z.unknown().optional(),
  maxLength: z.unknown().optional(),
  allOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
});

/** Whether a schema is an integer of the chain in an answer: any number of decimal digits. */
function isDecimal(schema: unknown): boolean {
  const { data } = schemaObject.safeParse(schema);
  if (data?.$ref) return /\/(DecimalString|UnixSeconds)$/.test(data.$ref);
  if (data?.allOf) return data.allOf.some(isDecimal);
  return data?.type === "string" && data.pattern === "^\\d+$" && data.maxLength === undefined;
}

/** Whether a schema is a list of integers of the chain. */
function isDecimalList(schema: unknown): boolean {
  const { data } = schemaObject.safeParse(schema);
  return data?.type === "array" && isDecimal(data.items);
}

/** The names of all fields with an integer of the chain, or a list of them. */
function decimalFields(value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return names;
  if ("properties" in value && typeof value.properties === "object" && value.properties !== null)
    for (const [name, schema] of Object.entries(value.properties))
      if (isDecimal(schema) || isDecimalList(schema)) names.add(name);
  for (const part of Object.values(value)) decimalFields(part, names);
  return names;
}

/** The types of the operations; integers of the chain have one of their own. */
async function typesOf(text: string): Promise<string> {
  // Loaded when it is needed: together they take a second.
  const { default: openapiTypes, astToString } = await import("openapi-typescript");
  const { factory } = (await import("typescript")).default;
  const decimal = factory.createTypeReferenceNode("Decimal");
  const decimalOrNull = factory.createUnionTypeNode([
    decimal,
    factory.createLiteralTypeNode(factory.createNull()),
  ]);
  const transform = (schema: object) => {
    if ("$ref" in schema || "allOf" in schema || !isDecimal(schema)) return undefined;
    return "nullable" in schema && schema.nullable === true ? decimalOrNull : decimal;
  };
  return astToString(await openapiTypes(text, { immutable: true, transform }));
}

/** Writes the files, unless those that are there were made of the present document. */
export async function writeClientTypes(): Promise<void> {
  const document = readFileSync(documentFile, "utf8");
  const source = createHash("sha256")
    .update(document)
    .update(readFileSync(import.meta.filename))
    .digest("hex");
  const head = `// Generated from docs/openapi.json (${source}).\n`;
  const files = { types: join(target, "api-types.ts"), fields: join(target, "decimal-fields.ts") };
  const isCurrent = (file: string) => existsSync(file) && readFileSync(file, "utf8").startsWith(head);
  if (Object.values(files).every(isCurrent)) return;
  const text = withoutFailures(document);
  const names = [...decimalFields(JSON.parse(text))].sort().join(" ");
  const types = `import type { Decimal } from "../bigints.ts";\n\n${await typesOf(text)}`;
  const fields = `/** The fields with an integer of the chain, in decimal digits. */\nexport const decimalFields =\n  "${names}";\n`;
  replaceFiles(target, [
    { path: files.types, contents: head + types },
    { path: files.fields, contents: head + fields },
  ]);
}
