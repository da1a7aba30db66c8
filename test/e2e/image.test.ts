/**
 * The image's content and commands, without Docker: the files that the Dockerfile copies, owned by somebody else and not
 * writable, and each process with the command and variables of compose.yaml. What this proves: nothing else is needed, nothing
 * is written, each process is found healthy, and each ends in order on SIGTERM.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { projectRoot } from "../../lib/project-root.ts";
import { freePorts } from "../../scripts/local/ports.ts";
import { type Child, exitMessage, startProcess } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain } from "../support/chain.ts";
import { atEnd, showOnFailure } from "../support/cleanup.ts";
import {
  commandOf,
  environmentOf,
  readCompose,
  readDockerfile,
  requiredVariables,
  textsOf,
} from "../support/containers.ts";
import { freshDatabase } from "../support/database.ts";

/** The user `nobody`: without rights, as `node` is in the image. */
const NOBODY = 65534;
const [, image = []] = readDockerfile();
const names = ["indexer", "writer", "api"] as const;
type Name = (typeof names)[number];

let root: string;
let app: string;
const environments = new Map<Name, NodeJS.ProcessEnv>();
const children = new Map<Name, Child>();

/** Copies what the image's last stage takes from the build. */
function copyImage(): void {
  for (const text of textsOf(image, "COPY")) {
    const [from, ...paths] = text.split(" ");
    expect(from).toBe("--from=build");
    const target = paths.pop() ?? "";
    for (const source of paths.map((path) => path.replace("/app/", ""))) {
      const file = join(app, target.endsWith("/") ? join(target, source.split("/").at(-1) ?? "") : target);
      mkdirSync(dirname(file), { recursive: true });
      cpSync(join(projectRoot, source), file, { recursive: true });
    }
  }
}

/** Starts a program in the image's folder, as a user that may write nothing there. */
const program = (command: readonly string[]): { command: string; args: string[] } => {
  const [first = "", ...rest] = command;
  const node = first === "node" ? process.execPath : first;
  // Only root may become another user; whoever else runs the tests meets a folder without write permissions.
  if (process.getuid?.() !== 0) return { command: node, args: rest };
  return {
    command: "setpriv",
    args: [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs", node, ...rest],
  };
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "cover-image-"));
  app = join(root, "app");
  mkdirSync(app);
  copyImage();
  const chain = await startChain();
  cpSync(chain.deploymentFile, join(root, "main.json"));
  spawnSync("chmod", ["-R", "a+rX,a-w", root]);
  atEnd(async () => {
    spawnSync("chmod", ["-R", "u+w", root]);
    rmSync(root, { recursive: true });
  });

  const { services } = readCompose();
  const databaseUrl = await freshDatabase({ empty: true });
  const [PORT, PONDER_PORT, METRICS_PORT, API_METRICS_PORT] = (await freePorts(4)).map(String);
  for (const name of names) {
    const service = services[name];
    if (!service) throw new Error(`compose.yaml has no service ${name}`);
    const env = {
      ...requiredVariables,
      RPC_URL: chain.url,
      RELAYER_PRIVATE_KEYS: chain.relayerKey,
    };
    environments.set(name, {
      // Nothing is inherited, as in a container.
      PATH: process.env.PATH,
      HOME: "/nonexistent",
      NODE_ENV: "production",
      ...environmentOf(service, env),
      // What the network of the containers and their mounts resolve.
      DATABASE_URL: databaseUrl,
      REDIS_URL: "",
      DEPLOYMENT_FILE: join(root, "main.json"),
      METRICS_HOST: "127.0.0.1",
      PORT,
      PONDER_PORT,
      METRICS_PORT,
      API_METRICS_PORT,
    });
    const logFile = join(tmpdir(), `${root.split("/").at(-1)}-${name}.log`);
    showOnFailure(name, logFile);
    const child = await startProcess({
      name,
      ...program(service.command ?? []),
      cwd: app,
      env: environments.get(name),
      logFile,
    });
    children.set(name, child);
    atEnd(async () => {
      await child.stop();
      rmSync(logFile, { force: true });
    });
  }
});

const healthCheck = (name: Name) =>
  spawnSync(process.execPath, [...commandOf(textsOf(image, "HEALTHCHECK")[0] ?? "").slice(1), name], {
    cwd: app,
    env: environments.get(name),
    encoding: "utf8",
  });

test.each(names)("%s becomes healthy", async (name) => {
  const child = children.get(name);
  await waitFor({
    what: `${name} to be healthy`,
    probe: () => healthCheck(name).status === 0 || undefined,
    giveUpReason: () => child && exitMessage(child),
    intervalMs: 300,
  });
});

test("the api answers from the index, and serves pages and documents", async () => {
  const base = `http://127.0.0.1:${environments.get("api")?.PORT}`;
  const health = await waitFor({
    what: "the index to be synced",
    probe: async () => {
      const answer = await fetch(`${base}/api/v1/indexer/health`);
      const text = await answer.text();
      return answer.ok && text.includes('"synced"') ? text : undefined;
    },
  });
  expect(health).toContain("lastSyncedBlock");
  for (const path of ["/", "/api-docs", "/openapi.json", "/docs/operating.md", "/products"])
    expect((await fetch(`${base}${path}`)).status, path).toBe(200);
});

test("the image has the operator's commands", () => {
  const run = (...args: string[]) => {
    const { command, args: rest } = program(["node", "scripts/start.mjs", ...args]);
    return spawnSync(command, rest, { cwd: app, env: environments.get("writer"), encoding: "utf8" });
  };
  expect(run("ledger")).toMatchObject({ status: 0, stderr: "" });
  const doctor = run("doctor", "writer");
  expect(doctor.stdout).toContain("the node serves chain 8453");
  // The tests' Postgres is set up to be fast.
  expect(doctor.stdout, doctor.stdout).not.toMatch(/^FAULT +(?!Postgres)\S/m);
});

test("a process that is stopped or unknown is not healthy", async () => {
  const api = children.get("api");
  if (!api) throw new Error("no api");
  expect(await api.stop()).toEqual({ code: 0, signal: null });
  expect(healthCheck("api")).toMatchObject({ status: 1, stderr: expect.stringContaining("api: ") });
  const unknown = spawnSync(process.execPath, ["scripts/healthy.mjs", "x"], { cwd: app, encoding: "utf8" });
  expect(unknown).toMatchObject({ status: 2, stderr: "x: must be api, indexer, writer\n" });
});

test.each(["writer", "indexer"] as const)("%s ends in order", async (name) => {
  expect(await children.get(name)?.stop()).toEqual({ code: 0, signal: null });
});
