import { appendFileSync, writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** `failures` has a line each: where, and the first line of its error. */
type Outcome = { passed: number; failures: string[]; skipped: number };

const failure = (where: string, error: { message?: string } | undefined): string =>
  `FAILED ${where}: ${error?.message?.split("\n")[0] ?? "without an error"}`;

/** Counts tests. A file or group that failed in a hook or while loading counts as one more failure. */
function count(modules: readonly TestModule[], errorsOutside: readonly { message?: string }[]): Outcome {
  const failures = errorsOutside.map((error) => failure("outside any test", error));
  let passed = 0;
  let skipped = 0;
  for (const module of modules) {
    const file = module.relativeModuleId;
    if (module.errors().length > 0) failures.push(failure(file, module.errors()[0]));
    for (const suite of module.children.allSuites())
      if (suite.errors().length > 0) failures.push(failure(`${file} > ${suite.fullName}`, suite.errors()[0]));
    for (const test of module.children.allTests()) {
      const { state, errors } = test.result();
      if (state === "passed") passed += 1;
      else if (state === "failed") failures.push(failure(`${file} > ${test.fullName}`, errors[0]));
      // A test that is still "pending" at the end never ran.
      else skipped += 1;
    }
  }
  return { passed, failures, skipped };
}

/**
 * Ends a run with the line `N passed, N failed, N skipped`. With `CI` set, a skipped test fails the run: a developer's
 * machine may lack a server, but CI must not. With `TEST_RESULTS` the three numbers are appended to that file instead, with
 * a line for each failure, so that a script can add up several runs.
 */
export default class SummaryLine implements Reporter {
  /** A run that ends before its tests has failed. */
  #outcome: Outcome = { passed: 0, failures: ["FAILED before the first test"], skipped: 0 };

  onInit(): void {
    process.once("exit", () => {
      const { passed, failures, skipped } = this.#outcome;
      const failed = failures.length;
      if (failed > 0 || (skipped > 0 && process.env.CI)) process.exitCode = 1;
      // Written synchronously at the exit, after the output of other reporters and the teardown.
      const { TEST_RESULTS } = process.env;
      if (TEST_RESULTS)
        appendFileSync(TEST_RESULTS, [`${passed} ${failed} ${skipped}`, ...failures, ""].join("\n"));
      else writeSync(1, `${passed} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errorsOutside: readonly { message?: string }[]): void {
    this.#outcome = count(modules, errorsOutside);
  }
}
