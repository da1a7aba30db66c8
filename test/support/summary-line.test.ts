import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";

const root = join(import.meta.dirname, "..", "..");

/** Runs vitest with the reporter on one test file outside the project. */
function run(
  name: string,
  file: string,
  ci: boolean,
  results = "",
): { lastLine: string | undefined; status: number | null } {
  const folder = join(inject("runFolder"), `summary-line-${name}`);
  mkdirSync(folder);
  const reporter = join(root, "test", "support", "summary-line.ts");
  const config = { test: { globals: true, include: ["*.test.js"], reporters: ["default", reporter] } };
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "vitest.config.js"), `export default ${JSON.stringify(config)};`);
  writeFileSync(join(folder, "one.test.js"), file);
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const { stdout, status } = spawnSync(process.execPath, [vitest, "run", "--root", folder], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, CI: ci ? "1" : "", TEST_RESULTS: results },
  });
  return { lastLine: stdout.trimEnd().split("\n").at(-1), status };
}

const passes = 'test("passes", () => {});';
const skips = 'test.skip("is skipped", () => {});';
const fails = 'test("fails", () => { throw new Error("no"); });';
const breaks =
  'describe("group", () => { beforeAll(() => { throw new Error("no"); }); test("never runs", () => {}); });';

test("the last line of a run counts its tests", () => {
  expect(run("pass", passes + passes, true)).toEqual({
    lastLine: "2 passed, 0 failed, 0 skipped",
    status: 0,
  });
  expect(run("fail", passes + fails, false)).toEqual({
    lastLine: "1 passed, 1 failed, 0 skipped",
    status: 1,
  });
});

test("a skipped test fails the run only in CI", () => {
  expect(run("skip", passes + skips, false)).toEqual({
    lastLine: "1 passed, 0 failed, 1 skipped",
    status: 0,
  });
  expect(run("skip-ci", passes + skips, true)).toEqual({
    lastLine: "1 passed, 0 failed, 1 skipped",
    status: 1,
  });
});

test("a failure outside a test counts as failed", () => {
  expect(run("hook", breaks, false)).toMatchObject({ lastLine: "0 passed, 1 failed, 1 skipped", status: 1 });
  expect(run("syntax", "const = ;", false)).toMatchObject({
    lastLine: "0 passed, 1 failed, 0 skipped",
    status: 1,
  });
});

test("with TEST_RESULTS the counts and each failure are appended to that file, for several runs", () => {
  const results = join(inject("runFolder"), "summary-line-results");
  run("results-hook", breaks, false, results);
  run("results-fail", passes + fails, false, results);
  expect(readFileSync(results, "utf8").split("\n")).toEqual([
    "0 1 1",
    "FAILED one.test.js > group: no",
    "1 1 0",
    "FAILED one.test.js > fails: no",
    "",
  ]);
});
