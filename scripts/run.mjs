// Installs the packages when one is missing or has another version than in package.json, then runs a script of the project
// with Node 24: `run.mjs vitest …` runs vitest, everything else is the path of a file.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findNode, isCurrent, root, runWithNode } from "./node.mjs";
import { requirePatches } from "./patches.mjs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is required; this is ${process.version}.`);
  process.exit(1);
}
// On Linux a package brings it.
if (!isCurrent && process.platform !== "linux") findNode();

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
  // At this level npm does not warn of each package that wants a newer Node than its own process: none runs there.
  const args = ["install", "--no-audit", "--no-fund", "--include=dev", "--loglevel=error"];
  const { status } = spawnSync("npm", args, { cwd: root, stdio: "inherit" });
  if (status !== 0 || !installed()) {
    console.error("`npm install` failed; its output is above.");
    process.exit(status || 1);
  }
}
try {
  requirePatches();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

const [target, ...args] = process.argv.slice(2);
process.chdir(root);
if (target === "vitest") runWithNode([join(root, "node_modules", "vitest", "vitest.mjs"), ...args]);
else runWithNode([join(root, target), ...args]);
