// The Node that runs the project: this process's own, or, for an older one on Linux, that of npm's package. Node 20.19 can run this file.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

const REQUIRED = 24;
export const isCurrent = Number(process.versions.node.split(".")[0]) >= REQUIRED;
/** Npm installs it on Linux only. */
const fromPackage = join(root, "node_modules", `node-linux-${process.arch}`, "bin", "node");

/** Ends the process with one line where no Node that runs the project is there. */
export function findNode() {
  if (isCurrent) return process.execPath;
  if (existsSync(fromPackage)) return fromPackage;
  const remedy = process.platform === "linux" ? "`npm install` brings one" : "install it from nodejs.org";
  console.error(`Node ${REQUIRED} or newer is required, and this is ${process.version}: ${remedy}.`);
  process.exit(1);
}

/** Where Node keeps the compiled form of what it has loaded once: what run.mjs starts then begins with an eighth less work. */
const compiled = join(root, "node_modules", ".cache", "compiled");

/** Runs a program with that Node, which its own children find too, and ends with its code. */
export function runWithNode(args) {
  const node = findNode();
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`;
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, PATH: path };
  const child = spawn(node, args, { stdio: "inherit", env });
  // The terminal sends Ctrl-C to the whole group. The child decides how to stop; this process waits for it.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}
