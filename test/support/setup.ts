import { afterAll, beforeEach } from "vitest";
import { endAll, outputTails } from "./cleanup.ts";

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    const tails = outputTails();
    if (tails) console.error(tails);
  });
});

afterAll(endAll);
