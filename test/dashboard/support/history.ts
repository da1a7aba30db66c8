/** A stack whose chain has 800 days of history, for pages with figures. */
import type { z } from "zod";
import { DAY } from "../../../scripts/local/seed/timeline.ts";
import { seedHistory } from "../../../scripts/local/seed.ts";
import { startApi, type TestApi } from "../../api/support/api.ts";
import { answersCaughtUp } from "../../api/support/caught-up.ts";

/** Starts indexer and api on an empty chain, on which the history can be played. */
export async function startBeforeHistory(): Promise<TestApi> {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - 800 * DAY);
  const api = await startApi({ services: ["indexer", "api"], chainOptions: { timestamp, retired: false } });
  await answersCaughtUp(api);
  return api;
}

/** Plays the history, and waits until the answers have all of it. */
export async function playHistory(api: TestApi): Promise<void> {
  await seedHistory({ rpcUrl: api.chain.url, deployment: api.chain.deployment });
  await answersCaughtUp(api);
}

/** Starts indexer and api on a chain with the history. */
export async function startHistory(): Promise<TestApi> {
  const api = await startBeforeHistory();
  await playHistory(api);
  return api;
}

/** An answer of the API in this shape. */
export async function readApi<T>({ request }: TestApi, path: string, shape: z.ZodType<T>): Promise<T> {
  return shape.parse((await request(path)).json);
}
