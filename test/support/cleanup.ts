/** Stops everything that a test file has started, whatever its tests did. */
import { tail } from "../../scripts/local/processes.ts";

const stops: (() => Promise<void>)[] = [];
const outputs = new Map<string, string>();

/** Registers a function for the end of the test file; the last one registered runs first. */
export function atEnd(stop: () => Promise<void>): void {
  stops.push(stop);
}

/** Prints the end of this output file when a test fails. */
export function showOnFailure(name: string, logFile: string): void {
  outputs.set(name, logFile);
}

/** Runs all registered functions, and then throws the first error. */
export async function endAll(): Promise<void> {
  const faults: unknown[] = [];
  // Removed from the list first: one that runs too long must not stop what the worker's next file has started.
  for (const stop of stops.splice(0).reverse()) {
    await stop().catch((fault: unknown) => faults.push(fault));
  }
  outputs.clear();
  if (faults.length > 0) throw faults[0];
}

/** The last lines of every process's output. */
export function outputTails(lines = 40): string {
  return [...outputs].map(([name, file]) => `──── ${name} (${file})\n${tail(file, lines)}`).join("\n");
}
