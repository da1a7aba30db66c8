import { defineConfig, mergeConfig } from "vitest/config";
import common from "../../vitest.config.ts";

/** The soak takes as long as it takes: hours are nothing to it. */
const soakMs = 24 * 3600 * 1000;

const config = mergeConfig(common, defineConfig({ test: { testTimeout: soakMs, maxWorkers: 1 } }));

export default { ...config, test: { ...config.test, include: ["test/soak/*.soak.ts"] } };
