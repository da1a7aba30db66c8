import { defineConfig } from "vitest/config";
import { common, run } from "../../../vitest.config.ts";

/** A soak run may take hours. */
const soakTimeoutMs = 24 * 3600 * 1000;

export default defineConfig({
  // Without the interception a line of each minute is printed as it is.
  test: {
    ...{ ...common, ...run, include: ["test/soak/all/*.soak.ts"], testTimeout: soakTimeoutMs },
    ...{ maxWorkers: 1, disableConsoleIntercept: true },
  },
});
