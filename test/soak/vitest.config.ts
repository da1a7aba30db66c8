import { defineConfig } from "vitest/config";
import { common, run } from "../../vitest.config.ts";

/** A soak run may take hours. */
const soakTimeoutMs = 24 * 3600 * 1000;

export default defineConfig({
  test: { ...common, ...run, include: ["test/soak/*.soak.ts"], testTimeout: soakTimeoutMs, maxWorkers: 1 },
});
