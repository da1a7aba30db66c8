/**
 * `npm run soak`: rounds of purchases in which the writer or the api is killed. SOAK_ROUNDS is the number of rounds (200),
 * SOAK_SEED repeats an earlier run, SOAK_WORLDS is the number of chains in parallel (2).
 */
import { expect, test } from "vitest";
import { runSoak } from "./run-soak.ts";

const seed = Number(process.env.SOAK_SEED || Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.SOAK_ROUNDS || 200);
const chains = Number(process.env.SOAK_WORLDS || 2);

test(`each idempotency key buys one policy through ${rounds} kills`, async () => {
  console.log(`SOAK_SEED=${seed} SOAK_ROUNDS=${rounds} SOAK_WORLDS=${chains}`);
  const reached = new Map<string, number>();
  const result = await runSoak({
    seed,
    rounds,
    chains,
    onRound: ({ number, victim, step }, purchases, ms) => {
      const name = `${victim} at ${step}`;
      reached.set(name, (reached.get(name) ?? 0) + 1);
      console.log(`round ${number}: ${name}, ${purchases.length} keys, ${(ms / 1000).toFixed(1)} s`);
    },
  });
  console.table(Object.fromEntries(reached));
  console.log(
    `${rounds} rounds: ${result.keys} keys, ${result.calls} calls, ${result.retries} retries, one policy each (SOAK_SEED=${seed})`,
  );
  expect(result.keys).toBeGreaterThanOrEqual(rounds);
});
