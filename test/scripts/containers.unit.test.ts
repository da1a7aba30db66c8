/** Dockerfile, .dockerignore and compose.yaml agree with the code. test/e2e/image.test.ts starts what they describe. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run as lint } from "dockerfilelint";
import { expect, test } from "vitest";
import { z } from "zod";
import { apiConfig, indexerConfig, variableNames, writerConfig } from "../../lib/config.ts";
import { projectRoot } from "../../lib/project-root.ts";
import {
  commandOf,
  environmentOf,
  interpolate,
  readCompose,
  readDockerfile,
  requiredVariables,
  textsOf,
} from "../support/containers.ts";

const compose = readCompose();
const [build = [], image = []] = readDockerfile();
const processes = ["indexer", "api", "writer"] as const;
const configs = { indexer: indexerConfig, api: apiConfig, writer: writerConfig };
const serviceOf = (name: string) => {
  const found = compose.services[name];
  if (!found) throw new Error(`compose.yaml has no service ${name}`);
  return found;
};

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")));

test("the image installs by the lock file with our patches, builds, and takes no packages along", () => {
  expect(textsOf(build, "RUN")).toEqual(["npm ci --no-audit --no-fund", "npm run build"]);
  expect(Object.keys(scripts)).toContain("build");
  expect(textsOf(build, "COPY")[0]).toBe("package.json package-lock.json ./");
  expect(textsOf(build, "COPY")[1]).toBe("patches patches");
  expect(textsOf(image, "COPY").join(" ")).not.toContain("node_modules");
  for (const stage of [build, image]) expect(stage[0]?.text).toMatch(/^node:24-/);
});

/** Packages without a hash in the lock file, and why. */
const withoutIntegrity: Readonly<Record<string, string>> = {
  "node_modules/napi-windows-process-start-time":
    "an optional dependency of vite for Windows alone that the registry does not have",
};

test("the lock file has the hash of every package that can be installed, of all platforms", () => {
  const { packages } = z
    .object({ packages: z.record(z.string(), z.object({ integrity: z.string().optional() })) })
    .parse(JSON.parse(readFileSync(join(projectRoot, "package-lock.json"), "utf8")));
  const { "": _, ...installed } = packages;
  const lacking = Object.keys(installed).filter((name) => !installed[name]?.integrity?.startsWith("sha512-"));
  expect(lacking).toEqual(Object.keys(withoutIntegrity));
});

test("dockerfilelint finds no fault in the Dockerfile, except that it does not know HEALTHCHECK --start-period", () => {
  const text = readFileSync(join(projectRoot, "Dockerfile"), "utf8");
  const faults = (content: string) => lint(projectRoot, content).map(({ rule }) => rule);
  expect(faults(text.replace(/ --start-period=\d+s/, ""))).toEqual([]);
  // Once the linter knows the option, the line above can go.
  expect(faults(text)).toEqual(["invalid_format"]);
});

test("the image's processes run as a user without rights, and own no file", () => {
  expect(textsOf(image, "USER")).toEqual(["node"]);
  const names = image.map(({ name }) => name);
  expect(names.indexOf("USER")).toBeGreaterThan(names.lastIndexOf("COPY"));
  expect(textsOf(image, "COPY").join(" ")).not.toContain("--chown");
  expect(textsOf(image, "RUN")).toEqual([]);
});

test("every file that the image takes from the build is in the project, or made by the build", () => {
  const made = ["node_modules", "dist"];
  for (const text of textsOf(image, "COPY")) {
    const sources = text.split(" ").slice(1, -1);
    for (const source of sources.map((path) => path.replace("/app/", "")))
      expect(made.includes(source) || existsSync(join(projectRoot, source)), source).toBe(true);
  }
});

test("no secret and no local data is sent to the build", () => {
  const ignored = readFileSync(join(projectRoot, ".dockerignore"), "utf8").split("\n");
  for (const entry of [".env*", ".git", ".data", "node_modules", "deployments"])
    expect(ignored).toContain(entry);
  expect(ignored.filter((line) => line.startsWith("!"))).toEqual([]);
});

test.each(processes)("%s starts in its container as by npm run start, and as in tests", (name) => {
  const { command } = serviceOf(name);
  expect(command?.join(" ")).toBe(scripts[`start:${name}`]);
  expect(scripts[`start:${name}`]).toBe(`node scripts/start.mjs ${name}`);
});

test("the image starts the api where nothing else is said, and its health check is there", () => {
  expect(commandOf(textsOf(image, "CMD")[0] ?? "").join(" ")).toBe(scripts["start:api"]);
  expect(textsOf(image, "EXPOSE")).toEqual([String(apiConfig({ ...defaults(), PORT: "" }).PORT)]);
  const [, file = ""] = commandOf(textsOf(image, "HEALTHCHECK")[0] ?? "");
  expect(existsSync(join(projectRoot, file))).toBe(true);
});

/** The environment of the api in compose. */
function defaults(): Record<string, string> {
  return environmentOf(serviceOf("api"), requiredVariables);
}

test.each(processes)("%s gets every variable that it requires", (name) => {
  expect(() => configs[name](environmentOf(serviceOf(name), requiredVariables))).not.toThrow();
});

test("whatever .env.example explains can be set, but for what the containers fix", () => {
  const settable = new Set(processes.flatMap((name) => Object.keys(serviceOf(name).environment)));
  for (const name of settable) expect(variableNames).toContain(name);
  // Ports and addresses inside the containers, and the dev stack's variables.
  const fixed = ["HOST", "PORT", "PONDER_HOST", "PONDER_PORT", "METRICS_PORT", "API_METRICS_PORT"];
  const dev = ["ANVIL_PORT", "TESTNET_ANVIL_PORT", "POSTGRES_PORT", "DATA_DIR"];
  expect([...settable, ...fixed, ...dev].sort()).toEqual([...variableNames].sort());
});

/** Either this variable or that of the signer's keys: the writer says so. */
const saidByWriter = "RELAYER_PRIVATE_KEYS";
const saidByCompose = Object.keys(requiredVariables).filter((name) => name !== saidByWriter);

test("without a relayer's key the writer does not start, and says so", () => {
  const env = environmentOf(serviceOf("writer"), { ...requiredVariables, [saidByWriter]: "" });
  expect(() => writerConfig(env)).toThrow(`${saidByWriter} is required`);
});

test.each(saidByCompose)("without %s nothing starts, and its name is said", (missing) => {
  const env = { ...requiredVariables, [missing]: "" };
  const text = readFileSync(join(projectRoot, "compose.yaml"), "utf8").replace(/^\s*#.*$/gm, "");
  expect(() => interpolate(text, env)).toThrow(`${missing} is required`);
  expect(() => interpolate(text, requiredVariables)).not.toThrow();
});

test("private keys reach the writer only, and the api logs in with its own login", () => {
  for (const [name, { environment }] of Object.entries(compose.services)) {
    const keys = Object.keys(environment).filter((variable) => /PRIVATE_KEY/.test(variable));
    if (name === "prices") expect(keys).toEqual(["PRICES_PRIVATE_KEY"]);
    else if (name !== "writer") expect(keys, name).toEqual([]);
  }
  expect(defaults().DATABASE_URL).toContain("//cover_api_login:");
  expect(environmentOf(serviceOf("writer"), requiredVariables).DATABASE_URL).toContain("//cover_owner:");
});

test("published ports are those of the machine itself, and Postgres and Redis have none", () => {
  for (const [name, { ports }] of Object.entries(compose.services))
    for (const port of ports) expect(interpolate(port, {}), name).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  for (const name of ["postgres", "redis", "postgres-standby"]) {
    expect(serviceOf(name).ports).toEqual([]);
    expect(serviceOf(name).networks).toEqual(["data"]);
  }
  expect(compose.networks.data).toEqual({ internal: true });
});

test("profiles, mounted files, named volumes and networks exist", () => {
  const profiles = new Set(Object.values(compose.services).flatMap(({ profiles: own }) => own ?? []));
  expect([...profiles].sort()).toEqual(["metrics", "standby", "testnet"]);
  for (const [name, service] of Object.entries(compose.services)) {
    for (const network of service.networks) expect(Object.keys(compose.networks), name).toContain(network);
    for (const source of service.volumes.map((volume) => volume.split(":")[0] ?? "")) {
      // The operator's deployment files.
      if (source === "./deployments") continue;
      if (source.startsWith("./")) expect(existsSync(join(projectRoot, source)), source).toBe(true);
      else expect(Object.keys(compose.volumes), name).toContain(source);
    }
  }
});

test("the containers of the service change none of their files", () => {
  for (const name of [...processes, "prices"])
    expect(serviceOf(name)).toMatchObject({
      read_only: true,
      tmpfs: ["/tmp"],
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
});

test("Prometheus asks the ports of the metrics", () => {
  const text = readFileSync(join(projectRoot, "ops", "compose", "prometheus.yml"), "utf8");
  const { METRICS_PORT } = writerConfig(environmentOf(serviceOf("writer"), requiredVariables));
  expect(text).toContain(`names: [writer], type: A, port: ${METRICS_PORT}`);
  expect(text).toContain(`names: [api], type: A, port: ${apiConfig(defaults()).API_METRICS_PORT}`);
});
