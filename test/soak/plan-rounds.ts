/** Draws the rounds of a soak run from a seed: the same seed gives the same rounds. */
import fc from "fast-check";
import { type ProductName, productNames } from "../../lib/products.ts";

/**
 * State of a purchase when a process is killed. `accepted`: its row exists. `nonce taken`: the statement that takes the
 * nonce was sent. `signed`: the nonce is stored, and the bytes are not. `stored`: the bytes are not yet sent. `broadcast`: the node has
 * them, and the writer not yet its answer. `mined`: in a block, not yet in the ledger. `settled`: in the ledger.
 */
export const steps = [
  "accepted",
  "nonce taken",
  "signed",
  "stored",
  "broadcast",
  "mined",
  "settled",
] as const;
export type Step = (typeof steps)[number];
export type Victim = "writer" | "api";

export const BUYERS = 3;

export type PlannedPurchase = {
  /** Index of the buyer. */
  readonly buyer: number;
  /** Buyers use the same keys: a key is unique per wallet. */
  readonly key: string;
  /** Number of identical calls that begin at once. */
  readonly callers: number;
  readonly productName: ProductName;
};

export type Round = {
  readonly number: number;
  readonly victim: Victim;
  readonly step: Step;
  readonly purchases: readonly PlannedPurchase[];
  /** Time between the kill and the restart, in ms. */
  readonly deadMs: number;
  /** Time from the restart to a second kill, during recovery, in ms; undefined: no second kill. */
  readonly secondKillMs: number | undefined;
};

const order = fc.noBias(
  fc.record({
    apiStep: fc.constantFrom(...steps),
    positions: fc.shuffledSubarray([...steps, "api" as const], { minLength: steps.length + 1 }),
  }),
);
/** In this many rounds the writer is killed once at each step, and the api once at one of them. */
const BLOCK = steps.length + 1;

const details = fc.noBias(
  fc.record({
    deadMs: fc.integer({ min: 0, max: 1500 }),
    secondKillMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 10_000 }) },
    ),
    purchases: fc.array(
      fc.record({
        callers: fc.constantFrom(1, 1, 1, 2, 3),
        productName: fc.constantFrom(...productNames),
      }),
      { minLength: 1, maxLength: 2 * BUYERS },
    ),
  }),
);

export function planRounds(seed: number, count: number): Round[] {
  const blocks = fc.sample(order, { seed, numRuns: Math.ceil(count / BLOCK) });
  const victims = blocks.flatMap(({ apiStep, positions }) =>
    positions.map(
      (position): Pick<Round, "victim" | "step"> =>
        position === "api" ? { victim: "api", step: apiStep } : { victim: "writer", step: position },
    ),
  );
  const rest = fc.sample(details, { seed, numRuns: victims.length });
  return victims.slice(0, count).map((victim, number) => ({
    number,
    ...victim,
    deadMs: rest[number]?.deadMs ?? 0,
    secondKillMs: rest[number]?.secondKillMs,
    purchases: (rest[number]?.purchases ?? []).map((purchase, index) => ({
      ...purchase,
      buyer: index % BUYERS,
      key: `soak-${seed}-${number}-${Math.floor(index / BUYERS)}`,
    })),
  }));
}
