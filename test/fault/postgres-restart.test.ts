/**
 * Postgres is stopped and started, and crashes, while purchases run. What this proves: clients are told to come back,
 * the processes find their way back by themselves, and each key is one policy.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, inject, test } from "vitest";
import { signalPid, waitUntilGone } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { createDatabase, type LocalPostgres, startPostgres } from "../../scripts/local/postgres.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { notePid } from "../support/run-folder.ts";
import { buyPatiently } from "./support/client.ts";
import { type Bought, expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
import { startWorld, type World } from "./support/world.ts";

let world: World;
let server: LocalPostgres;
let start: () => Promise<void>;

beforeAll(async () => {
  const port = await freePort();
  const dataDir = join(inject("runFolder"), `postgres-${port}`);
  start = async () => {
    server = await startPostgres({ dataDir, port, logFile: `${dataDir}.log`, settings: { fsync: false } });
    notePid(inject("runFolder"), server.pid);
  };
  await start();
  atEnd(() => server.stop());
  world = await startWorld({ buyers: 3, databaseUrl: await createDatabase(server.url, "purchases") });
});

const restarts = [
  { name: "stopped and started", stop: () => server.stop() },
  {
    name: "stopped, and away for three seconds",
    async stop() {
      await server.stop();
      await sleep(3000);
    },
  },
  {
    name: "killed",
    async stop() {
      signalPid(server.pid, "SIGQUIT");
      await waitUntilGone(server.pid, 60_000);
    },
  },
] as const;

/** Clients that buy one policy after the other, until they are told to stop. */
function shoppers(name: string) {
  let open = true;
  const bought = world.buyers.map((): Bought[] => []);
  const all = Promise.all(
    world.buyers.map(async ({ buy }, buyer) => {
      for (let n = 0; open; n += 1) {
        const planned = { buyer, key: `${name}-${n}` };
        const call = () => buy({}, { "idempotency-key": planned.key });
        bought[buyer]?.push({ planned, told: [await buyPatiently(call, "impatient")] });
      }
    }),
  );
  let fault: unknown;
  all.catch((error: unknown) => {
    fault = error;
  });
  return {
    /** Waits until each of them has its next policies: so many. */
    async haveMore(count: number): Promise<void> {
      const wanted = bought.map((own) => own.length + count);
      await waitFor({
        what: `each buyer to have ${count} more`,
        probe: () => bought.every((own, buyer) => own.length >= (wanted[buyer] ?? 0)) || undefined,
        timeoutMs: 100_000,
        hopeless: () => (fault === undefined ? undefined : String(fault)),
      });
    },
    async close(): Promise<Bought[]> {
      open = false;
      await all;
      return bought.flat();
    },
  };
}

test.each(restarts)("$name", async ({ name, stop }) => {
  const fromBlock = (await world.chain.client.getBlockNumber()) + 1n;
  const { haveMore, close } = shoppers(name);
  await haveMore(1);
  await stop();
  await start();
  // The first of these two may have been bought before.
  await haveMore(2);
  const bought = await close();
  await expectOnePolicyPerKey(world, bought, fromBlock);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
});
