import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { z } from "zod";

const root = join(import.meta.dirname, "..", "..");

/** A folder of this run with the starter alone. */
function starterIn(name: string): string {
  const folder = join(realpathSync(inject("runFolder")), name);
  mkdirSync(folder);
  cpSync(join(root, "scripts", "start.mjs"), join(folder, "scripts", "start.mjs"));
  return folder;
}

const start = (folder: string) =>
  spawnSync(process.execPath, ["scripts/start.mjs", "api"], { cwd: folder, encoding: "utf8" });

test("a process without a bundle does not start and names the command to build it", () => {
  const folder = starterIn("not-built");
  const { status, stderr } = start(folder);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `${join(folder, "dist", "api.mjs")} is missing: run \`npm run build\`.\n`,
  });
});

test("a started process keeps an object of process.nextTick, so that V8 keeps their shape", () => {
  const folder = starterIn("kept-tick");
  mkdirSync(join(folder, "dist"));
  const bundle = `import { executionAsyncResource } from "node:async_hooks";
    process.nextTick(() => {
      const shape = (object) => Reflect.ownKeys(object).map(String);
      console.log(JSON.stringify([globalThis.keptTick, executionAsyncResource()].map(shape)));
    });`;
  writeFileSync(join(folder, "dist", "api.mjs"), bundle);
  const [kept, own] = z.array(z.array(z.string())).parse(JSON.parse(start(folder).stdout));
  expect(kept).toContain("callback");
  expect(kept).toEqual(own);
});
