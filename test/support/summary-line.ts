import { appendFileSync, writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

type Counts = { passed: number; failed: number; skipped: number };

/** Counts tests. A file or group that failed in a hook or while loading counts as one more failure. */
function count(modules: readonly TestModule[], errorsOutside: number): Counts {
  const counts = { passed: 0, failed: errorsOutside, skipped: 0 };
  for (const module of modules) {
    if (module.errors().length > 0) counts.failed += 1;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // A test that is still "pending" at the end never ran.
      counts[state === "pending" ? "skipped" : state] += 1;
    }
  }
  return counts;
}

/**
 * Ends a run with the line `N passed, N failed, N skipped`. With `CI` set, a skipped test fails the run: a developer's
 * machine may lack a server, but CI must not. With `TEST_COUNTS` the three numbers are appended to that file instead, so
 * that a script can add up several runs.
 */
export default class SummaryLine implements Reporter {
  /** A run that ends before its tests has failed. */
  #counts: Counts = { passed: 0, failed: 1, skipped: 0 };

  onInit(): void {
    process.once("exit", () => {
      const { passed, failed, skipped } = this.#counts;
      if (failed > 0 || (skipped > 0 && process.env.CI)) process.exitCode = 1;
      // Written synchronously at the exit, after the output of other reporters and the teardown.
      const { TEST_COUNTS } = process.env;
      if (TEST_COUNTS) appendFileSync(TEST_COUNTS, `${passed} ${failed} ${skipped}\n`);
      else writeSync(1, `${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errorsOutside: readonly unknown[]): void {
    this.#counts = count(modules, errorsOutside.length);
  }
}
