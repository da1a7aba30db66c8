/**
 * `npm run check`: types, lint and format, the import rules, files, exports and packages that nothing uses, whether `abis/` matches `contracts/`, `docs/openapi.json` the
 * API, and `ops/` the metrics.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { projectRoot } from "../lib/project-root.ts";
import { writeClientTypes } from "./build/client-types.ts";
import { boundaryFaults } from "./check/boundaries.ts";
import { compile } from "./compile.ts";
import { writeMonitoring } from "./monitoring.ts";

const require = createRequire(import.meta.url);

type Outcome = { readonly name: string; readonly ok: boolean; readonly output: string };

/** Runs a Node program, with Node's own arguments before it, to its end and keeps its output. */
function run(name: string, args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], {
      cwd: projectRoot,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text: string) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ name, ok: code === 0, output }));
  });
}

/** Runs a check that throws when it finds a difference. */
function checkHere(name: string, check: () => void): Outcome {
  try {
    check();
    return { name, ok: true, output: "" };
  } catch (error) {
    return { name, ok: false, output: error instanceof Error ? error.message : String(error) };
  }
}

const typescript = [require.resolve("typescript/bin/tsc"), "--noEmit", "--pretty", "false"];
const biome = join(dirname(require.resolve("@biomejs/biome/package.json")), "bin", "biome");

await writeClientTypes();
const running = [
  run("types", typescript),
  run("types of the dashboard", [...typescript, "--project", "dashboard"]),
  run("lint and format", [biome, "check", "."]),
  run("nothing unused", [join(projectRoot, "node_modules", "knip", "bin", "knip.js"), "--no-config-hints"]),
  run("OpenAPI document", [join("scripts", "openapi.ts"), "--check"]),
];
const faults = boundaryFaults();
const boundaries = { name: "imports", ok: faults.length === 0, output: faults.join("\n") };
const abis = checkHere("abis", () => compile({ check: true }));
const monitoring = checkHere("alert rules and board", () => writeMonitoring({ check: true }));

const outcomes = [...(await Promise.all(running)), boundaries, abis, monitoring];
for (const { name, ok, output } of outcomes) {
  console.log(`${ok ? "ok    " : "FAILED"} ${name}`);
  if (!ok) console.log(output.trimEnd());
}
if (outcomes.some((outcome) => !outcome.ok)) process.exitCode = 1;
