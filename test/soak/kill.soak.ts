/**
 * `npm run soak`: rounds of purchases in which the writer or the api is killed. SOAK_ROUNDS is how many (200), SOAK_SEED
 * plays an earlier run again, SOAK_WORLDS is how many chains play at once (2).
 */
import { expect, test } from "vitest";
import { runSoak } from "./rounds.ts";

const seed = Number(process.env.SOAK_SEED || Math.floor(Math.random() * 2 ** 31));
const rounds = Number(process.env.SOAK_ROUNDS || 200);
const worlds = Number(process.env.SOAK_WORLDS || 2);

test(`each idempotency key is one policy through ${rounds} kills`, async () => {
  console.log(`SOAK_SEED=${seed} SOAK_ROUNDS=${rounds} SOAK_WORLDS=${worlds}`);
  const reached = new Map<string, number>();
  const result = await runSoak({
    seed,
    rounds,
    worlds,
    onRound: ({ number, victim, step }, bought, ms) => {
      const name = `${victim} at ${step}`;
      reached.set(name, (reached.get(name) ?? 0) + 1);
      console.log(`round ${number}: ${name}, ${bought.length} keys, ${(ms / 1000).toFixed(1)} s`);
    },
  });
  console.table(Object.fromEntries(reached));
  console.log(
    `${rounds} rounds: ${result.keys} keys, ${result.calls} calls, ${result.retries} retries, one policy each (SOAK_SEED=${seed})`,
  );
  expect(result.keys).toBeGreaterThanOrEqual(rounds);
});
