import { spawnSync } from "node:child_process";
import { cpSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

test("a process without a bundle does not start and names the command to build it", () => {
  const folder = join(realpathSync(inject("runFolder")), "not-built");
  cpSync(join(root, "scripts", "start.mjs"), join(folder, "scripts", "start.mjs"));
  const { status, stderr } = spawnSync(process.execPath, ["scripts/start.mjs", "api"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `${join(folder, "dist", "api.mjs")} is missing: run \`npm run build\`.\n`,
  });
});
