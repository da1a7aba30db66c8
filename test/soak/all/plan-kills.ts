/** Draws the kills of a run from a seed: the same seed gives the same kills. */
import fc from "fast-check";

export const victims = ["api", "writer", "indexer", "postgres", "node"] as const;
export type Victim = (typeof victims)[number];

export type Kill = {
  readonly victim: Victim;
  /** From the round's beginning, in ms. */
  readonly afterMs: number;
  /** From the kill to the start, in ms. */
  readonly deadMs: number;
  /** Of Postgres: a clean stop, a crash of all its processes, or of the first one only. */
  readonly how: "stopped" | "SIGQUIT" | "SIGKILL";
};

/** One kill, or two of different victims that may overlap. */
export type KillRound = {
  /** Before the round, in ms. */
  readonly restMs: number;
  readonly kills: readonly Kill[];
};

const details = fc.noBias(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 4_000 }),
    deadMs: fc.integer({ min: 0, max: 8_000 }),
    how: fc.constantFrom("stopped" as const, "SIGQUIT" as const, "SIGKILL" as const),
  }),
);
/** Each victim once, in some order. */
const order = fc.noBias(fc.shuffledSubarray([...victims], { minLength: victims.length }));
/** Now and then everything lives for a while. */
const rest = fc.noBias(
  fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 2_000, max: 12_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 40_000, max: 90_000 }) },
  ),
);
/** In one round of three somebody else dies too; 1 is the next victim of the order, and so on. */
const second = fc.noBias(fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4));

/** So many rounds. In each five of them every victim is killed at least once. */
export function planKills(seed: number, count: number): KillRound[] {
  const draw = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number): T[] =>
    fc.sample(arbitrary, { seed, numRuns });
  const first = draw(order, Math.ceil(count / victims.length))
    .flat()
    .slice(0, count);
  const others = draw(second, count);
  const drawn = draw(details, 2 * count);
  const rests = draw(rest, count);
  return first.map((victim, n) => {
    const other = victims[(victims.indexOf(victim) + (others[n] ?? 0)) % victims.length];
    const both = [victim, other].filter((one, index, all) => all.indexOf(one) === index);
    const kills = both.flatMap((one, index): Kill[] => {
      const detail = drawn[2 * n + index];
      return one && detail ? [{ victim: one, ...detail }] : [];
    });
    return { restMs: rests[n] ?? 0, kills };
  });
}
