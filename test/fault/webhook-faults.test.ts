/**
 * What this proves: over five hundred events, with writer and indexer killed, Postgres crashes, reorganisations and failing
 * receivers, every subscriber receives each event of its wallet at least once, under one id and body and in chain order, and an
 * `event_reverted` for each event that is not on the chain. The expected events come from the chain's logs. `FAULT_SEED` repeats
 * the events of an earlier run.
 */
import { expect, test } from "vitest";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { eventOf, flapping, hang, ok, reset, slow, startReceivers, status } from "../support/receiver.ts";
import { drawSeed } from "../support/seed.ts";
import { players } from "./support/event-maker.ts";
import { eventsOnChain } from "./support/webhook-truth.ts";
import {
  caughtUp,
  expectCorrectDeliveries,
  failingFirst,
  keepRetriesDue,
  startWebhookWorld,
  subscribe,
} from "./support/webhook-world.ts";

const seed = drawSeed("FAULT_SEED");
const EVENTS = 500;
/** In most blocks. `workers/outbox-fan-out.db` has full batches. */
const PURCHASES = 8;
/** A killed process is back within seconds, or within a minute while other tests use both cores. */
const SLOW_MS = 300_000;
/** More blocks than the events need. */
const BLOCKS = 400;

const failing = failingFirst(3, status(500), reset, status(302, { location: "/elsewhere" }), status(404));

test(`five hundred events arrive although every part fails (FAULT_SEED=${seed})`, {
  timeout: 1_200_000,
}, async () => {
  const postgres = await startOwnPostgres("webhooks");
  const world = await startWebhookWorld({ seed, purchases: PURCHASES, databaseUrl: postgres.databaseUrl });
  const { chain, maker, stack, rows } = world;
  const [receivers, away] = [await startReceivers(), await startReceivers()];
  const wallets = players.map(({ address }) => address);
  const [first = "", second = "", third = "", fourth = "", fifth = "", sixth = ""] = wallets;
  const steady = [
    await subscribe(world, receivers.at("all"), first),
    await subscribe(world, receivers.at("some"), first, [
      "policy_purchased",
      "policy_expired",
      "token_burned",
    ]),
    await subscribe(world, receivers.at("slow"), second, ["*"], slow(30)),
    await subscribe(world, receivers.at("fails"), third, ["*"], failing),
    await subscribe(world, receivers.at("flaps"), fourth, ["*"], flapping(ok, ok, ok, reset)),
  ];
  const subscribers = [
    ...steady,
    await subscribe(world, receivers.at("hangs"), fifth, ["*"], (n) => (n === 20 || n === 50 ? hang : ok)),
    await subscribe(world, away.at("away"), sixth),
  ];
  const stopRetries = keepRetriesDue(world);

  /** Waits for the indexer first: Ponder would retry for a minute to read the logs of a block that was replaced. */
  const reorganise = async () => {
    await rows.caughtUp(chain.client, SLOW_MS);
    await maker.reorganise();
  };
  /** Reverts events that were sent. */
  const reorganiseSent = async () => {
    await rows.caughtUp(chain.client, SLOW_MS);
    await caughtUp(world, SLOW_MS);
    await maker.reorganise();
  };
  /** An indexer that loses Postgres while Ponder starts ends, and nothing here would start it again. */
  const indexerIsUp = () => rows.caughtUp(chain.client, SLOW_MS);
  const crash = async () => {
    await postgres.kill();
    await postgres.start();
  };
  /** Postgres must lose none of the commits that it has just made. */
  const crashOnceIndexed = () => indexerIsUp().then(crash);
  const kill = async (name: "writer" | "indexer") => stack.kill9(name);
  const restart = async (name: "writer" | "indexer") => void (await stack.start(name, { wait: false }));
  /** The faults before each of these blocks. */
  const faults: Readonly<Record<number, () => Promise<void>>> = {
    4: () => kill("writer"),
    5: () => restart("writer"),
    9: reorganiseSent,
    13: () => kill("indexer"),
    15: () => maker.reorganise(),
    17: () => restart("indexer"),
    20: () => away.close(),
    23: () => away.open(),
    24: indexerIsUp,
    27: crash,
    31: () => kill("writer"),
    32: reorganise,
    33: () => restart("writer"),
    37: () => maker.passAnHour(),
    40: reorganiseSent,
    43: () => Promise.all([kill("writer"), kill("indexer")]).then(() => {}),
    46: () => Promise.all([restart("writer"), restart("indexer")]).then(() => {}),
    51: crashOnceIndexed,
  };
  const newest = Math.max(...Object.keys(faults).map(Number));
  const before = (await eventsOnChain(chain)).length;
  for (let n = 0; n < BLOCKS; n += 1) {
    await faults[n]?.();
    await maker.block();
    if (n > newest && n % 5 === 0 && (await eventsOnChain(chain)).length - before >= EVENTS) break;
  }
  expect((await eventsOnChain(chain)).length - before).toBeGreaterThanOrEqual(EVENTS);

  await expectCorrectDeliveries(world, subscribers, { ordered: steady });
  await stopRetries();
  // The faults must have caused repeated requests and reversals.
  const all = subscribers.flatMap(({ requests }) => requests);
  const reversals = all.filter((request) => eventOf(request).type === "event_reverted").length;
  const events = subscribers.map(({ requests }) => new Set(requests.map(({ id }) => id)).size);
  const repeated = all.length - events.reduce((sum, ids) => sum + ids, 0);
  console.log(`${all.length} requests, ${repeated} of them repeated, ${reversals} reversals`);
  expect(reversals).toBeGreaterThan(0);
  expect(repeated).toBeGreaterThan(0);
});
