/**
 * `npm run client:types` writes `client/api-types.ts` and `client/decimal-fields.ts` from the API's own OpenAPI document.
 * `--check` writes nothing and fails when one of them differs from the document.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTypes, { astToString } from "openapi-typescript";
import ts from "typescript";
import { zeroAddress } from "viem";
import { z } from "zod";
import { contractKeys } from "../lib/deployments.ts";
import { projectRoot } from "../lib/project-root.ts";
import { freePort } from "./local/ports.ts";
import { exitMessage, startProcess } from "./local/processes.ts";
import { waitFor } from "./local/wait.ts";

const head = "// Generated from the API's OpenAPI document by `npm run client:types`. Never edit it.\n";

/** No database and no node listens there: the API serves its document without them. */
const nowhere = "127.0.0.1:9";

/** A deployment file that is valid and describes no chain. */
const noDeployment = {
  chainId: 31337,
  name: "none",
  local: true,
  startBlock: 0,
  contracts: Object.fromEntries(contractKeys.map((key) => [key, zeroAddress])),
};

/** Starts the API from its sources, asks it for its OpenAPI document, and stops it. @throws when it does not start */
async function readDocument(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "client-types-"));
  const deploymentFile = join(folder, "deployment.json");
  writeFileSync(deploymentFile, JSON.stringify(noDeployment));
  const port = await freePort();
  const api = await startProcess({
    name: "api",
    command: process.execPath,
    args: ["--import", "tsx", join("api", "server.ts")],
    cwd: projectRoot,
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      HOST: "127.0.0.1",
      API_METRICS_PORT: String(await freePort()),
      DATABASE_URL: `postgres://nobody@${nowhere}/none`,
      RPC_URL: `http://${nowhere}`,
      DEPLOYMENT_FILE: deploymentFile,
      ADMIN_TOKEN: "not-in-use",
      LOG_LEVEL: "error",
    },
    logFile: join(folder, "api.log"),
  });
  try {
    return await waitFor({
      what: "the API's OpenAPI document",
      probe: async () => {
        const response = await fetch(`http://127.0.0.1:${port}/openapi.json`);
        return response.ok ? response.text() : undefined;
      },
      giveUpReason: () => exitMessage(api),
    });
  } finally {
    await api.stop({ signal: "SIGKILL" });
    rmSync(folder, { recursive: true, force: true });
  }
}

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

const decimal = ts.factory.createTypeReferenceNode("Decimal");
const nothing = ts.factory.createLiteralTypeNode(ts.factory.createNull());

/** Tells integers of the chain from other strings. */
function decimalType(schema: object) {
  if ("$ref" in schema || "allOf" in schema || !isDecimal(schema)) return undefined;
  return "nullable" in schema && schema.nullable === true
    ? ts.factory.createUnionTypeNode([decimal, nothing])
    : decimal;
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

/** The generated files of `client/`, by name. */
async function generate(): Promise<Readonly<Record<string, string>>> {
  const text = withoutFailures(await readDocument());
  const types = await openapiTypes(text, { immutable: true, transform: decimalType });
  const fields = [...decimalFields(JSON.parse(text))].sort();
  return {
    "api-types.ts": `${head}import type { Decimal } from "./bigints.ts";\n\n${astToString(types)}`,
    "decimal-fields.ts": `${head}\n/** The fields with an integer of the chain, in decimal digits. */\nexport const decimalFields =\n  "${fields.join(" ")}";\n`,
  };
}

/** Writes the files, or compares them with those that are there. @throws when `check` finds a difference */
export async function writeClientTypes({ check }: { check: boolean }): Promise<void> {
  for (const [name, text] of Object.entries(await generate())) {
    const file = join(projectRoot, "client", name);
    if (!check) writeFileSync(file, text);
    else if (readFileSync(file, "utf8") !== text)
      throw new Error(`client/${name} differs from the OpenAPI document: run \`npm run client:types\`.`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeClientTypes({ check: process.argv.includes("--check") });
