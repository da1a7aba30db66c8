/**
 * `npm run soak:all`: purchases, webhooks, keeper and reads, while api, writer, indexer, Postgres and the node are killed at
 * random. What this proves, from the chain: each idempotency key buys one policy, each subscriber has each event under one id and
 * in order, each due policy is triggered once, and each answer of the api is that of its block. SOAK_MINUTES is its length (60),
 * SOAK_SEED repeats the kills of an earlier run, and much of its load.
 */
import { test } from "vitest";
import { runSoakOfAll } from "./run.ts";

const seed = Number(process.env.SOAK_SEED || Math.floor(Math.random() * 2 ** 31));
const minutes = Number(process.env.SOAK_MINUTES || 60);

test(`the service keeps its promises through ${minutes} minutes of kills`, async () => {
  console.log(`SOAK_SEED=${seed} SOAK_MINUTES=${minutes}`);
  await runSoakOfAll({ seed, minutes });
});
