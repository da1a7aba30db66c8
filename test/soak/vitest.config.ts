import { defineConfig } from "vitest/config";
import { common, run } from "../../vitest.config.ts";

/** The soak takes as long as it takes: hours are nothing to it. */
const soakMs = 24 * 3600 * 1000;

export default defineConfig({
  test: { ...common, ...run, include: ["test/soak/*.soak.ts"], testTimeout: soakMs, maxWorkers: 1 },
});
