/**
 * The writer is killed (SIGKILL) at each step of a purchase, and the api while it waits; clients retry with the same key,
 * as the API documents. What this proves, checked on the chain: each idempotency key buys exactly one policy, and every
 * caller receives that policy. `npm run soak` runs many more such rounds, without ending a dead writer's leases.
 */
import { expect, test } from "vitest";
import { runSoak } from "../soak/run-soak.ts";
import { drawSeed } from "../support/seed.ts";

const seed = drawSeed("SOAK_SEED");
/** The writer is killed at each of seven steps, and the api once. */
const ROUNDS = 8;

test("the writer is killed at each step of a purchase: one policy per key", {
  timeout: 600_000,
}, async () => {
  const reached: string[] = [];
  await runSoak({
    seed,
    rounds: ROUNDS,
    chains: 2,
    quick: true,
    onRound: ({ victim, step }) => reached.push(`${victim} ${step}`),
  });
  expect(reached.filter((name) => name.startsWith("writer"))).toHaveLength(7);
});
