import fc from "fast-check";

const DRAWS = 10_000;

/** Evenly distributed whole numbers from 0 to below a bound, by the seed. They repeat after some thousands. */
export function createRandom(seed: number): (below: number) => number {
  const draws = fc.sample(fc.noBias(fc.nat()), { seed, numRuns: DRAWS });
  let next = 0;
  return (below) => {
    next = (next + 1) % DRAWS;
    return (draws[next] ?? 0) % below;
  };
}
