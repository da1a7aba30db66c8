import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/** What every test file gets; each starts real processes, or waits for some, on a machine that may have two cores. */
export const common = {
  setupFiles: ["test/support/setup.ts"],
  pool: "forks" as const,
  // A test that runs away ends its process soon, and not at the machine's limit after minutes.
  execArgv: ["--max-old-space-size=1024"],
  testTimeout: 120_000,
  hookTimeout: 240_000,
  // A state that is polled for may come late on a busy machine; a test that passes does not pay for it.
  expect: { poll: { timeout: 60_000 } },
};

/** Once per run, and how it is reported. */
export const run = {
  globalSetup: ["test/support/global-setup.ts"],
  reporters: ["default", "./test/support/closing-line.ts"],
  teardownTimeout: 60_000,
};

const unit = "test/**/*.unit.test.ts";
const database = "test/**/*.db.test.ts";
const chain = ["test/contracts/**/*.test.ts", "test/**/*.chain.test.ts"];
const faults = "test/fault/**/*.test.ts";
const wholeStack = ["test/e2e/**/*.test.ts", "test/model/**/*.test.ts"];

/**
 * What `npm test` proves with whole processes, in minutes: the api's contract, a relayed purchase, then purchase, webhook,
 * sandbox and faucet end to end, a writer killed at each step, and a reorganisation.
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

/** A worker runs many files in one process, and loads the packages once. */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: { ...common, name, include, exclude, isolate: false },
});

export default defineConfig({
  test: {
    ...run,
    // Most files wait for processes most of the time; with four at once two cores are busy.
    maxWorkers: 4,
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
