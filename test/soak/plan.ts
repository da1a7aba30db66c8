/** What happens in each round of the soak, drawn from a seed: the same seed plays the same rounds again. */
import fc from "fast-check";
import { type ProductName, productNames } from "../../lib/products.ts";

/**
 * How far a purchase has come when a process is killed. `accepted`: its row stands. `nonce taken`: the statement that
 * takes the nonce was sent. `signed`: the bytes were made and not yet stored. `stored`: they were not yet sent.
 * `broadcast`: the node has them, and its answer is on the way. `mined`: in a block, not yet written down. `settled`:
 * written down.
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
  /** Which of the buyers. */
  readonly buyer: number;
  /** Buyers use the same keys: they count per wallet. */
  readonly key: string;
  /** So many identical calls begin at once. */
  readonly callers: number;
  readonly productName: ProductName;
};

export type Round = {
  readonly number: number;
  readonly victim: Victim;
  readonly step: Step;
  readonly purchases: readonly PlannedPurchase[];
  /** How long the victim stays dead, in ms. */
  readonly deadMs: number;
  /** It is killed once more so many ms after it is back, in the midst of what it recovers; undefined: it is not. */
  readonly againMs: number | undefined;
};

const order = fc.noBias(
  fc.record({
    apiStep: fc.constantFrom(...steps),
    positions: fc.shuffledSubarray([...steps, "api" as const], { minLength: steps.length + 1 }),
  }),
);
/** In so many rounds the writer dies once at each step, and the api once at one of them. */
const BLOCK = steps.length + 1;

const details = fc.noBias(
  fc.record({
    deadMs: fc.integer({ min: 0, max: 1500 }),
    againMs: fc.oneof(
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
    againMs: rest[number]?.againMs,
    purchases: (rest[number]?.purchases ?? []).map((purchase, index) => ({
      ...purchase,
      buyer: index % BUYERS,
      key: `soak-${seed}-${number}-${Math.floor(index / BUYERS)}`,
    })),
  }));
}
