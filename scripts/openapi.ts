/**
 * `npm run openapi` writes `docs/openapi.json`, the API's own OpenAPI document without its address, in which a review sees each change
 * of the contract, and the client's types of it. `--check` fails when the file differs from the document.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zeroAddress } from "viem";
import { z } from "zod";
import { contractKeys } from "../lib/deployments.ts";
import { projectRoot } from "../lib/project-root.ts";
import { documentFile, writeClientTypes } from "./build/client-types.ts";
import { freePort } from "./local/ports.ts";
import { exitMessage, startProcess } from "./local/processes.ts";
import { waitFor } from "./local/wait.ts";

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
  const folder = mkdtempSync(join(tmpdir(), "openapi-"));
  const deploymentFile = join(folder, "deployment.json");
  writeFileSync(deploymentFile, JSON.stringify(noDeployment));
  const port = await freePort();
  const api = await startProcess({
    name: "api",
    command: process.execPath,
    args: [join("api", "server.ts")],
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

/** JSON with a line for whatever fits on one. */
function print(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= 120) return line;
  const inner = `${indent} `;
  const entries = Array.isArray(value)
    ? value.map((one) => print(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${print(one, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${inner}${entries.join(`,\n${inner}`)}\n${indent}${close}`;
}

const { servers: _, ...document } = z.looseObject({}).parse(JSON.parse(await readDocument()));
const text = `${print(document)}\n`;
if (!process.argv.includes("--check")) {
  writeFileSync(documentFile, text);
  await writeClientTypes();
} else if (readFileSync(documentFile, "utf8") !== text) {
  console.error("docs/openapi.json differs from the API's document: run `npm run openapi`.");
  process.exitCode = 1;
}
