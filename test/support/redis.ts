import { join } from "node:path";
import { describe, inject, test } from "vitest";
import { freePort } from "../../scripts/local/ports.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { redisBinary, startRedis } from "./redis-server.ts";
import { forgetPid, recordPid } from "./run-folder.ts";

/** Starts a Redis that stops when the test file ends. @throws when `redis-server` is not installed. */
export async function freshRedis(): Promise<{ url: string; stop: () => Promise<void> }> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  const logFile = join(runFolder, `redis-${port}.log`);
  const redis = await startRedis({ port, logFile });
  if (!redis) throw new Error("redis-server is not installed");
  recordPid(runFolder, redis.pid);
  showOnFailure(`redis-server (port ${port})`, logFile);
  const stop = async () => {
    await redis.stop();
    forgetPid(runFolder, redis.pid);
  };
  atEnd(stop);
  return { url: redis.url, stop };
}

/** With `TEST_QUEUE=redis` all stacks except `npm run dev` use Redis for queues and limits, as in `npm run test:matrix`. */
const everywhere = process.env.TEST_QUEUE === "redis";
const ofDatabases = new Map<string, Promise<{ url: string }>>();

/** The Redis of all stacks on this database in this test file; undefined when they use Postgres. */
export async function redisOf(
  databaseUrl: string,
  { wanted = everywhere } = {},
): Promise<string | undefined> {
  if (!wanted) return undefined;
  const known = ofDatabases.get(databaseUrl);
  if (known) return (await known).url;
  const redis = freshRedis();
  ofDatabases.set(databaseUrl, redis);
  atEnd(async () => void ofDatabases.delete(databaseUrl));
  return (await redis).url;
}

/** A group of tests that need Redis. Without `redis-server` the group is skipped, or fails when `CI` is set. */
export function describeWithRedis(name: string, tests: () => void): void {
  if (redisBinary()) {
    describe(name, tests);
  } else if (process.env.CI) {
    test(`${name} needs redis-server`, () => {
      throw new Error("redis-server is not installed, and with CI set no test may be skipped");
    });
  } else {
    console.warn(`Skipped without redis-server: ${name}`);
    describe.skip(name, tests);
  }
}
