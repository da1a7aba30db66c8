/**
 * `npm run client:types` writes `client/api-types.ts` from the API's own OpenAPI document. `--check` writes nothing and fails
 * when the file differs from the document.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import openapiTypes, { astToString } from "openapi-typescript";
import { zeroAddress } from "viem";
import { z } from "zod";
import { contractKeys } from "../lib/deployments.ts";
import { projectRoot } from "../lib/project-root.ts";
import { freePort } from "./local/ports.ts";
import { exitMessage, startProcess } from "./local/processes.ts";
import { waitFor } from "./local/wait.ts";

const typesFile = join(projectRoot, "client", "api-types.ts");

const head = `// Generated from the API's OpenAPI document by \`npm run client:types\`. Never edit it.\n\n`;

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

/** Writes the types, or compares them with the file. @throws when `check` finds a difference */
export async function writeClientTypes({ check }: { check: boolean }): Promise<void> {
  const types = astToString(await openapiTypes(withoutFailures(await readDocument()), { immutable: true }));
  const text = `${head}${types}`;
  if (!check) return writeFileSync(typesFile, text);
  if (readFileSync(typesFile, "utf8") !== text)
    throw new Error("client/api-types.ts differs from the OpenAPI document: run `npm run client:types`.");
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeClientTypes({ check: process.argv.includes("--check") });
