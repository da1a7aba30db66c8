import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/** For every test file. Most start real processes or wait for some, on a machine that may have two cores. */
export const common = {
  setupFiles: ["test/support/setup.ts"],
  pool: "forks" as const,
  // A test with a memory leak ends its process soon, and not at the machine's limit after minutes.
  execArgv: ["--max-old-space-size=1024"],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // A polled state may come late on a busy machine. A passing test does not take the whole time.
  expect: { poll: { timeout: 120_000 } },
};

/** Set-up and report of a whole run. */
export const run = {
  globalSetup: ["test/support/global-setup.ts"],
  reporters: ["default", "./test/support/summary-line.ts"],
  teardownTimeout: 60_000,
};

const unit = "test/**/*.unit.test.ts";
const database = "test/**/*.db.test.ts";
const chain = ["test/contracts/**/*.test.ts", "test/**/*.chain.test.ts"];
const faults = "test/fault/**/*.test.ts";
const wholeStack = ["test/e2e/**/*.test.ts", "test/model/**/*.test.ts"];

/**
 * The tests with whole processes that `npm test` runs, in minutes: the api's contract, a relayed purchase, then purchase,
 * webhook, sandbox and faucet end to end, a writer killed at each step, and a reorganisation.
 */
const essential = [
  "test/api/errors.test.ts",
  "test/api/keys.test.ts",
  "test/api/products.test.ts",
  "test/api/purchase.test.ts",
  "test/e2e/demo.test.ts",
  "test/fault/writer-killed.test.ts",
  "test/fault/reorganised-replay.test.ts",
];

/** Without isolation a worker runs many files in one process and loads the packages once. */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: { ...common, name, include, exclude, isolate: false },
});

export default defineConfig({
  test: {
    ...run,
    // Most files wait for processes most of the time: four at once leave a sixth of two cores idle, and six made processes stand still.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      project("unit", [unit]),
      project("db", [database]),
      project("contracts", chain, [unit]),
      project("essential", essential),
      project(
        "service",
        ["test/**/*.test.ts"],
        [unit, database, ...chain, faults, ...wholeStack, ...essential],
      ),
      project("fault", [faults], [unit, ...essential]),
      project("e2e", wholeStack, essential),
    ],
  },
});
