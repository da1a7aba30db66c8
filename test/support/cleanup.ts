/** What a test file has started, so that it ends with the file whatever the tests did. */
import { tail } from "../../scripts/local/processes.ts";

const endings: (() => Promise<void>)[] = [];
const outputs = new Map<string, string>();

/** Registers what is to be done when the test file ends; the last one registered is done first. */
export function atEnd(ending: () => Promise<void>): void {
  endings.push(ending);
}

/** Shows the end of this output file when a test fails. */
export function showOnFailure(name: string, logFile: string): void {
  outputs.set(name, logFile);
}

/** Does all that was registered, goes on after a fault, and throws the first one at the end. */
export async function endAll(): Promise<void> {
  const faults: unknown[] = [];
  // Taken at once: an ending that outlasts its time must not end what the worker's next file has started.
  for (const ending of endings.splice(0).reverse()) {
    await ending().catch((fault: unknown) => faults.push(fault));
  }
  outputs.clear();
  if (faults.length > 0) throw faults[0];
}

/** The end of every process's output. */
export function outputTails(lines = 40): string {
  return [...outputs].map(([name, file]) => `──── ${name} (${file})\n${tail(file, lines)}`).join("\n");
}
