import { appendFileSync, writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

type Counts = { passed: number; failed: number; skipped: number };

/** Counts tests; a file or group that failed outside its tests, in a hook or while it was loaded, is a failure too. */
function count(modules: readonly TestModule[], errorsOutside: number): Counts {
  const counts = { passed: 0, failed: errorsOutside, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) counts.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // A test that is still "pending" at the end was never run, and nobody may take it for passed.
      counts[state === "pending" ? "skipped" : state] += 1;
    }
  }
  return counts;
}

/**
 * Closes a run with the line `N passed, N failed, N skipped`. With `CI` set, a skipped test fails the run: what was
 * skipped on a developer's machine for want of a server must not be skipped there. With `TEST_COUNTS` the three numbers
 * are appended to that file instead, for whoever closes several runs with one line.
 */
export default class ClosingLine implements Reporter {
  /** A run that ends before its tests did has failed. */
  #counts: Counts = { passed: 0, failed: 1, skipped: 0 };

  onInit(): void {
    process.once("exit", () => {
      const { passed, failed, skipped } = this.#counts;
      if (failed > 0 || (skipped > 0 && process.env.CI)) process.exitCode = 1;
      // Written at the very end, and at once: other reporters and the teardown have spoken by now.
      const { TEST_COUNTS } = process.env;
      if (TEST_COUNTS) appendFileSync(TEST_COUNTS, `${passed} ${failed} ${skipped}\n`);
      else writeSync(1, `${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errorsOutside: readonly unknown[]): void {
    this.#counts = count(modules, errorsOutside.length);
  }
}
