import { join } from "node:path";
import { describe, inject, test } from "vitest";
import { freePort } from "../../scripts/local/ports.ts";
import { redisBinary, startRedis } from "../../scripts/local/redis.ts";
import { atEnd, showOnFailure } from "./cleanup.ts";
import { forgetPid, notePid } from "./run-folder.ts";

/** Starts a Redis for this test file; it ends with the file. @throws when the machine has no `redis-server`. */
export async function freshRedis(): Promise<{ url: string; stop: () => Promise<void> }> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  const logFile = join(runFolder, `redis-${port}.log`);
  const redis = await startRedis({ port, logFile });
  if (!redis) throw new Error("this machine has no redis-server");
  notePid(runFolder, redis.pid);
  showOnFailure(`redis-server (port ${port})`, logFile);
  const stop = async () => {
    await redis.stop();
    forgetPid(runFolder, redis.pid);
  };
  atEnd(stop);
  return { url: redis.url, stop };
}

/** With `TEST_QUEUE=redis` every stack but `npm run dev` has its queues and limits on Redis: half of `npm run test:matrix`. */
const everywhere = process.env.TEST_QUEUE === "redis";
const ofDatabases = new Map<string, Promise<{ url: string }>>();

/** The Redis of all stacks on this database in this test file, or undefined where its queues are on Postgres. */
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

/**
 * A group of tests that need Redis. Without a `redis-server` on the machine the group stands in the report as skipped,
 * under its name; with `CI` set it fails instead.
 */
export function describeWithRedis(name: string, tests: () => void): void {
  if (redisBinary()) {
    describe(name, tests);
  } else if (process.env.CI) {
    test(`${name} needs redis-server`, () => {
      throw new Error("this machine has no redis-server, and with CI set nothing may be skipped");
    });
  } else {
    console.warn(`Skipped for want of redis-server: ${name}`);
    describe.skip(name, tests);
  }
}
