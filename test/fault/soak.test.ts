/**
 * The writer is killed (SIGKILL) at each step of a purchase, and the api while it waits; clients try again with the same
 * key, as the API tells them to. What this proves, counted on the chain: each idempotency key ends as exactly one
 * policy, the one that every caller was told of. `npm run soak` plays many more rounds of the same.
 */
import { expect, test } from "vitest";
import { runSoak } from "../soak/rounds.ts";

const seed = Number(process.env.SOAK_SEED || Math.floor(Math.random() * 2 ** 31));
/** The writer at each of seven steps, and the api once. */
const ROUNDS = 8;

test("killed at each step: one policy per key", { timeout: 600_000 }, async () => {
  console.log(`SOAK_SEED=${seed}`);
  const reached: string[] = [];
  await runSoak({
    seed,
    rounds: ROUNDS,
    worlds: 2,
    onRound: ({ victim, step }) => reached.push(`${victim} ${step}`),
  });
  expect(reached.filter((name) => name.startsWith("writer"))).toHaveLength(7);
});
