// Installs the packages when one is missing or has another version than in package.json, then runs a script of the project
// with node: `run.mjs vitest …` runs vitest, everything else is the path of a file.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is required; this is ${process.version}.`);
  process.exit(1);
}

/** True when every package of package.json is installed with its pinned version. */
function installed() {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).every(
    ([name, version]) => {
      const file = join(root, "node_modules", name, "package.json");
      return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version;
    },
  );
}

if (!installed()) {
  console.log("Installing packages …");
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--include=dev"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0 || !installed()) {
    console.error("`npm install` failed; its output is above.");
    process.exit(status || 1);
  }
}

const [target, ...args] = process.argv.slice(2);
const command =
  target === "vitest"
    ? [join(root, "node_modules", "vitest", "vitest.mjs"), ...args]
    : ["--import", "tsx", join(root, target), ...args];
const child = spawn(process.execPath, command, { cwd: root, stdio: "inherit" });
// The terminal sends Ctrl-C to the whole group. The child decides how to stop; this process waits for it.
for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
