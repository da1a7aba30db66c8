/** Traces of requests: the header `traceparent`, and the log lines that have it. */
import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Stack } from "./stack.ts";

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

/** A new `traceparent` header. */
export const newTrace = (): string => `00-${hex(16)}-${hex(8)}-01`;

/** Waits until api and writer have each logged the trace beside the id of the purchase or claim: more than once if a wake-up came twice. */
export async function expectLogged(
  { output }: Pick<Stack, "output">,
  trace: string,
  id = "without an id",
): Promise<void> {
  for (const name of ["api", "writer"] as const) {
    const lines = () => output(name).split("\n");
    await expect
      .poll(() => lines().filter((line) => line.includes(trace) && line.includes(id)), { message: name })
      .not.toEqual([]);
  }
}
