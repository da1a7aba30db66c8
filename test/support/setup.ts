import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeEach } from "vitest";
import { endAll, outputTails } from "./cleanup.ts";

/** Budgets and limits reset at midnight UTC, so no test starts within this time before it. */
const BEFORE_MIDNIGHT_MS = 60_000;
const DAY_MS = 86_400_000;

beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < BEFORE_MIDNIGHT_MS) await sleep(left + 100);
});

beforeEach(({ onTestFailed }) => {
  onTestFailed(() => {
    const tails = outputTails();
    if (tails) console.error(tails);
  });
});

afterAll(endAll);
