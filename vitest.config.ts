import { defineConfig } from "vitest/config";

/** Tests start real processes, and the machine may have two cores: what takes a second alone takes ten in company. */
const testTimeout = 120_000;
const hookTimeout = 240_000;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/setup.ts"],
    reporters: ["default", "./test/support/closing-line.ts"],
    pool: "forks",
    maxWorkers: 2,
    // A test that runs away ends its process soon, and not at the machine's limit after minutes.
    execArgv: ["--max-old-space-size=1024"],
    testTimeout,
    hookTimeout,
    teardownTimeout: 60_000,
  },
});
