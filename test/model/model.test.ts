/**
 * Proves that after any sequence of actions, with reorganisations and crashes of the indexer, every number in the API's
 * answers equals the chain's at that block. The actions are random; `MODEL_SEED` repeats those of an earlier run.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectRowsMatchChain } from "../src/support/compare-with-chain.ts";
import { openRows, type Rows, tableNames } from "../src/support/rows.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { drawSeed } from "../support/seed.ts";
import { type Stack, startStack } from "../support/stack.ts";
import type { Draw } from "./support/action.ts";
import { readChainState } from "./support/chain-state.ts";
import { expectEndpoints } from "./support/endpoints.ts";
import { actionCount, kinds } from "./support/model-state.ts";
import { DEEPEST, type RandomHistory, startRandomHistory } from "./support/random-history.ts";

const seed = drawSeed("MODEL_SEED");
/** November 2023, so that dates do not depend on the day of the run. */
const START = 1_700_000_000n;
const DAY = 86_400n;
/** A killed indexer is back within two seconds, or within a minute while other tests use both cores. */
const slowMs = 240_000;
const ACTIONS = 150;
/** More than `ACTIONS`: reverted actions do not count, and every kind has to occur. */
const DRAWS = 2_000;
const PARTS = 3;
/** The indexer is killed in the first parts only, because Ponder restarts slowly while other tests run. */
const PARTS_WITH_KILL = 2;

/** The reorganisations and the kill in one part of the history, each after so many steps. */
type Faults = {
  readonly reorganisations: readonly { readonly after: number; readonly depth: number }[];
  readonly rewind: { readonly after: number; readonly steps: number };
  readonly kill: { readonly after: number; readonly steps: number };
};

const even = fc.noBias(fc.nat());
const drawn = fc.record<Draw>({ kind: even, who: even, which: even, size: fc.maxSafeNat() });
/** A part has at least `ACTIONS / PARTS` steps. */
const step = fc.integer({ min: 2, max: 45 });
const faults = fc.record<Faults>({
  reorganisations: fc.array(fc.record({ after: step, depth: fc.integer({ min: 1, max: DEEPEST }) }), {
    minLength: 2,
    maxLength: 2,
  }),
  rewind: fc.record({ after: step, steps: fc.integer({ min: 1, max: 3 }) }),
  kill: fc.record({ after: step, steps: fc.integer({ min: 1, max: 5 }) }),
});

type Index = { readonly stack: Stack; readonly rows: Rows };

let chain: TestChain;
let history: RandomHistory;
/** Indexes the chain and its reorganisations; the API reads it. */
let live: Index;
/** Also indexes the chain, and is killed in several parts. */
let killed: Index;
/** Whether the indexer of `killed` is down now. */
let isDown = false;
const running = (): Index[] => (isDown ? [live] : [live, killed]);
let request: CheckedRequest;
const draws = fc.sample(drawn, { seed, numRuns: DRAWS });
const faultsByPart = fc.sample(faults, { seed, numRuns: PARTS });
let next = 0;

function take(count: number): Draw[] {
  const taken = draws.slice(next, next + count);
  next += count;
  return taken;
}

async function startIndex(...more: "api"[]): Promise<Index> {
  const stack = await startStack({ chain, services: ["indexer", ...more] });
  return { stack, rows: openRows(stack.databaseUrl) };
}

/** The kinds of actions that have not occurred yet. */
const missingKinds = () => kinds.filter((kind) => !history.model().done[kind]);

/**
 * Waits until the running indexers have reached the head, before a reorganisation: when a block disappears while Ponder
 * reads its logs, Ponder repeats the request for a minute.
 */
async function indexToHead(): Promise<void> {
  await Promise.all(running().map(({ rows }) => rows.caughtUp(chain.client, slowMs)));
}

/** Plays until the model has the part's number of actions, and in the last part each kind. */
async function playPart(part: number, { reorganisations, rewind, kill }: Faults): Promise<void> {
  const isOver = () =>
    actionCount(history.model()) >= (ACTIONS * part) / PARTS && (part < PARTS || missingKinds().length === 0);
  const kills = part <= PARTS_WITH_KILL;
  for (let steps = 1; !isOver() && next < DRAWS; steps++) {
    for (const draw of take(1)) await history.step(draw);
    if (kills && steps === kill.after) {
      isDown = true;
      await killed.stack.kill9("indexer");
    }
    for (const { after, depth } of reorganisations) {
      if (steps === after) await history.reorganise(depth, indexToHead);
    }
    if (steps === rewind.after) await history.rewind(take(rewind.steps), indexToHead);
    if (kills && steps === kill.after + kill.steps) {
      await killed.stack.start("indexer", { wait: false });
      isDown = false;
    }
  }
}

/** Compares table by table, to keep a failure's message short. */
async function expectSameRows(one: Rows, other: Rows): Promise<void> {
  for (const table of tableNames) expect(await one.rows(table), table).toEqual(await other.rows(table));
}

beforeAll(async () => {
  // An index that starts last reads the token's price at every purchase.
  chain = await startChain({ retired: false, timestamp: START - DAY, keptStates: 10_000 });
  history = await startRandomHistory(chain, START);
  [live, killed] = await Promise.all([startIndex("api"), startIndex()]);
  request = await checkedRequests(live.stack.apiUrl);
});
afterAll(() => Promise.all([live?.rows.close(), killed?.rows.close()]));

for (const [index, partFaults] of faultsByPart.entries()) {
  const part = index + 1;
  test(`part ${part} of ${PARTS}: every answer matches the chain (MODEL_SEED=${seed})`, async () => {
    await playPart(part, partFaults);
    await live.rows.caughtUp(chain.client, slowMs);
    await expectEndpoints(request, await readChainState(chain));
  });
}

test("the run had enough actions, and every kind", () => {
  expect(actionCount(history.model())).toBeGreaterThanOrEqual(ACTIONS);
  expect(missingKinds()).toEqual([]);
});

test("the rows match the chain for an indexer that saw reorganisations, one that was killed, and one that started last", async () => {
  await expectRowsMatchChain(live.rows, chain);
  await killed.rows.caughtUp(chain.client, slowMs);
  await expectSameRows(killed.rows, live.rows);
  const late = await startIndex();
  try {
    await late.rows.caughtUp(chain.client, slowMs);
    await expectSameRows(late.rows, live.rows);
  } finally {
    await late.rows.close();
  }
});
