/** What this proves: a start without bundle, patches or a fitting Node says so in one line, and an older Node starts npm's. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { patchesHash } from "../../scripts/patches.mjs";

const root = join(import.meta.dirname, "..", "..");
const files = ["scripts/start.mjs", "scripts/run.mjs", "scripts/node.mjs", "scripts/patches.mjs", "patches"];

/** A folder of this run with the starters and the patches. */
function startersIn(name: string): string {
  const folder = join(realpathSync(inject("runFolder")), name);
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true });
  return folder;
}
function write(folder: string, file: string, text: string, mode?: number): void {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), text, { mode });
}
/** A bundle that prints its arguments, built with the present patches. */
function withBundle(folder: string): string {
  write(folder, "dist/api.mjs", "console.log(process.argv.slice(2).join())");
  write(folder, "dist/patches.sha256", patchesHash());
  return folder;
}
/** A folder whose starters want a newer Node than any. */
function wantingNewer(name: string): string {
  const folder = withBundle(startersIn(name));
  const file = join(folder, "scripts", "node.mjs");
  writeFileSync(file, readFileSync(file, "utf8").replace("REQUIRED = 24", "REQUIRED = 9999"));
  return folder;
}
function run(folder: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
}

test("a process without a bundle does not start and names the command to build it", () => {
  const folder = startersIn("not-built");
  expect(run(folder, "scripts/start.mjs", "api")).toEqual({
    status: 1,
    stdout: "",
    stderr: `${join(folder, "dist", "api.mjs")} is missing: run \`npm run build\`.\n`,
  });
});

test("a bundle of the present patches starts with its arguments, and one of others does not", () => {
  const folder = withBundle(startersIn("patched"));
  expect(run(folder, "scripts/start.mjs", "api", "--port", "1")).toEqual({
    status: 0,
    stdout: "--port,1\n",
    stderr: "",
  });
  write(folder, "patches/another+1.0.0+001+fault.patch", "");
  expect(run(folder, "scripts/start.mjs", "api")).toEqual({
    status: 1,
    stdout: "",
    stderr: "dist/ was built with other patches than those in patches/: run `npm run build`.\n",
  });
});

test("without its patches a package starts nothing, as after npm install --ignore-scripts", () => {
  const folder = startersIn("unpatched");
  write(folder, "package.json", "{}");
  const { status, stderr } = run(folder, "scripts/run.mjs", "scripts/dev.ts");
  expect(status).toBe(1);
  expect(stderr).toBe(
    "ponder, postgres: not patched as in patches/. Run `rm -r node_modules/ponder node_modules/postgres && npm install`.\n",
  );
});

test("an older Node starts npm's Node, and without that says in one line what is missing", () => {
  const folder = wantingNewer("old-node");
  const refused = run(folder, "scripts/start.mjs", "api");
  expect(refused.status).toBe(1);
  expect(refused.stderr).toMatch(/^Node 9999 or newer is required, and this is v[\d.]+: .+\.\n$/);
  write(folder, `node_modules/node-linux-${process.arch}/bin/node`, '#!/bin/sh\necho "$@"\nexit 7\n', 0o755);
  expect(run(folder, "scripts/start.mjs", "api", "--port", "1")).toEqual({
    status: 7,
    stdout: `${join(folder, "scripts", "start.mjs")} api --port 1\n`,
    stderr: "",
  });
});
