import { defineConfig } from "vitest/config";
import LongestFirst from "./test/support/longest-first.ts";

/** For every test file. Most start real processes or wait for some, on a machine that may have two cores. */
export const common = {
  setupFiles: ["test/support/setup.ts"],
  pool: "forks" as const,
  // A test with a memory leak ends its process soon, and not at the machine's limit after minutes.
  execArgv: ["--max-old-space-size=1024"],
  testTimeout: 900_000,
  hookTimeout: 900_000,
  // A polled state may come late on a busy machine. A passing test does not take the whole time.
  expect: { poll: { timeout: 300_000 } },
};

/** Set-up and report of a whole run. */
export const run = {
  globalSetup: ["test/support/global-setup.ts"],
  reporters: ["default", "./test/support/summary-line.ts"],
  teardownTimeout: 60_000,
};

/**
 * What `npm test` runs, in minutes: all tests of units, database and contracts, and of those with whole processes the api's
 * contract, a relayed purchase, then purchase, webhook, sandbox and faucet end to end, a writer killed at each step, and a
 * reorganisation.
 */
const essential = [
  "test/**/*.{unit,db,chain}.test.ts",
  "test/contracts/**/*.test.ts",
  "test/api/errors.test.ts",
  "test/api/keys.test.ts",
  "test/api/products.test.ts",
  "test/api/purchase.test.ts",
  "test/e2e/demo.test.ts",
  "test/fault/writer-killed.test.ts",
  "test/fault/reorganised-replay.test.ts",
];

/**
 * Without isolation a worker runs many files in one process and loads the packages once, as long as they are of one project.
 * One project follows the other.
 */
const project = (
  name: string,
  groupOrder: number,
  files: { readonly include: string[]; readonly exclude?: string[]; readonly maxWorkers: number },
) => ({ test: { ...common, ...files, name, isolate: false, sequence: { groupOrder } } });

export default defineConfig({
  test: {
    ...run,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Most of these wait: for time-outs, repetitions and slow receivers.
      project("essential", 0, { include: essential, maxWorkers: 6 }),
      // Three processes each: with five at once, on a slow machine, nodes and databases answer later than the service waits for them.
      project("rest", 1, { include: ["test/**/*.test.ts"], exclude: essential, maxWorkers: 4 }),
    ],
  },
});
