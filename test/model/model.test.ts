/**
 * What this proves: whatever happens on the chain, in whatever order, through reorganisations and crashes of the
 * indexer, every number that the API answers is the one that the chain itself has at that block. The actions are
 * random; `MODEL_SEED` plays those of an earlier run again.
 */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAgreement } from "../src/support/agreement.ts";
import { openRows, type Rows, tableNames } from "../src/support/rows.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectEndpoints } from "./support/endpoints.ts";
import { DEEPEST, openPlay, type Play } from "./support/play.ts";
import type { Draw } from "./support/scene.ts";
import { readTruth } from "./support/truth.ts";
import { actionsOf, kinds } from "./support/world.ts";

const seed = Number(process.env.MODEL_SEED || Math.floor(Math.random() * 2 ** 31));
/** Dates do not depend on the day of the run: the history begins in November 2023. */
const BEGINNING = 1_700_000_000n;
const DAY = 86_400n;
/** An indexer that was killed is back within two seconds, and within a minute while other tests have both cores. */
const slowMs = 120_000;
const ACTIONS = 200;
/** More than enough: what a reorganisation takes back is not counted, and every kind has to occur. */
const DRAWS = 600;
const PARTS = 4;
/** In as many parts: Ponder takes its time to start again, while other tests run. */
const KILLS = 3;

/** What befalls chain and index in one part of the history, each after so many of its steps. */
type Fate = {
  readonly reorganisations: readonly { readonly after: number; readonly depth: number }[];
  readonly rewind: { readonly after: number; readonly steps: number };
  readonly kill: { readonly after: number; readonly steps: number };
};

const even = fc.noBias(fc.nat());
const drawn = fc.record<Draw>({ kind: even, who: even, which: even, size: fc.maxSafeNat() });
/** A part has `ACTIONS / PARTS` steps at least. */
const step = fc.integer({ min: 2, max: 45 });
const fate = fc.record<Fate>({
  reorganisations: fc.array(fc.record({ after: step, depth: fc.integer({ min: 1, max: DEEPEST }) }), {
    minLength: 2,
    maxLength: 2,
  }),
  rewind: fc.record({ after: step, steps: fc.integer({ min: 1, max: 3 }) }),
  kill: fc.record({ after: step, steps: fc.integer({ min: 1, max: 5 }) }),
});

type Index = { readonly stack: Stack; readonly rows: Rows };

let chain: TestChain;
let play: Play;
/** Follows the chain and sees its reorganisations; the API reads it. */
let live: Index;
/** Follows the chain too, and is killed again and again. */
let killed: Index;
/** Whether `killed` is just now. */
let isDead = false;
const following = (): Index[] => (isDead ? [live] : [live, killed]);
let request: CheckedRequest;
const draws = fc.sample(drawn, { seed, numRuns: DRAWS });
const fates = fc.sample(fate, { seed, numRuns: PARTS });
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

/** What a run still lacks. */
const missing = () => kinds.filter((kind) => !play.world().done[kind]);

/**
 * Before a reorganisation the indexes that run read to the head: for a block that is gone while Ponder asks for its logs
 * it asks again and again for a minute, and the run has no minute to spare.
 */
async function settle(): Promise<void> {
  await Promise.all(following().map(({ rows }) => rows.caughtUp(chain.client, slowMs)));
}

/** Plays until so many actions stand, in the last part also until each kind has occurred. */
async function playPart(part: number, { reorganisations, rewind, kill }: Fate): Promise<void> {
  const isOver = () =>
    actionsOf(play.world()) >= (ACTIONS * part) / PARTS && (part < PARTS || missing().length === 0);
  const kills = part <= KILLS;
  for (let steps = 1; !isOver() && next < DRAWS; steps++) {
    for (const draw of take(1)) await play.step(draw);
    if (kills && steps === kill.after) {
      isDead = true;
      await killed.stack.kill9("indexer");
    }
    for (const { after, depth } of reorganisations) {
      if (steps === after) await play.reorganise(depth, settle);
    }
    if (steps === rewind.after) await play.rewind(take(rewind.steps), settle);
    if (kills && steps === kill.after + kill.steps) {
      await killed.stack.start("indexer", { wait: false });
      isDead = false;
    }
  }
}

/** Table by table, so that a difference is told by a few lines. */
async function expectSameRows(one: Rows, other: Rows): Promise<void> {
  for (const table of tableNames) expect(await one.rows(table), table).toEqual(await other.rows(table));
}

beforeAll(async () => {
  console.log(`MODEL_SEED=${seed}`);
  chain = await startChain({ retired: false, timestamp: BEGINNING - DAY });
  play = await openPlay(chain, BEGINNING);
  [live, killed] = await Promise.all([startIndex("api"), startIndex()]);
  request = await checkedRequests(live.stack.apiUrl);
});
afterAll(() => Promise.all([live?.rows.close(), killed?.rows.close()]));

for (const [index, partFate] of fates.entries()) {
  const part = index + 1;
  test(
    `part ${part} of ${PARTS}: every answer is the chain's own (MODEL_SEED=${seed})`,
    async () => {
      await playPart(part, partFate);
      await live.rows.caughtUp(chain.client, slowMs);
      await expectEndpoints(request, await readTruth(chain));
    },
    2 * slowMs,
  );
}

test("the run had actions enough, and every kind of them", () => {
  expect(actionsOf(play.world())).toBeGreaterThanOrEqual(ACTIONS);
  expect(missing()).toEqual([]);
});

test(
  "the rows are the chain's, whether the index saw reorganisations, was killed, or read all of it afterwards",
  async () => {
    await expectAgreement(live.rows, chain);
    await killed.rows.caughtUp(chain.client, slowMs);
    await expectSameRows(killed.rows, live.rows);
    const calm = await startIndex();
    try {
      await calm.rows.caughtUp(chain.client, slowMs);
      await expectSameRows(calm.rows, live.rows);
    } finally {
      await calm.rows.close();
    }
  },
  2 * slowMs,
);
