/**
 * Postgres is stopped and started, and crashes, while purchases run. What this proves: clients are told to come back,
 * the processes find their way back by themselves, and each key is one policy.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, inject, test } from "vitest";
import { signalPid, waitUntilGone } from "../../lib/local/pids.ts";
import { freePort } from "../../lib/local/ports.ts";
import { createDatabase, type LocalPostgres, startPostgres } from "../../lib/local/postgres.ts";
import { atEnd } from "../support/cleanup.ts";
import { notePid } from "../support/run-folder.ts";
import { buyPatiently } from "./support/client.ts";
import { expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./support/truth.ts";
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
      await waitUntilGone(server.pid, 5000);
    },
  },
] as const;

/** Clients that buy one policy after the other, until they are told to stop. */
function shoppers(name: string) {
  let open = true;
  const all = world.buyers.map(async ({ buy }, buyer) => {
    const bought = [];
    for (let n = 0; open; n += 1) {
      const planned = { buyer, key: `${name}-${n}` };
      const call = () => buy({}, { "idempotency-key": planned.key });
      bought.push({ planned, told: [await buyPatiently(call, "impatient")] });
    }
    return bought;
  });
  return async () => {
    open = false;
    return (await Promise.all(all)).flat();
  };
}

test.each(restarts)("$name", async ({ name, stop }) => {
  const fromBlock = (await world.chain.client.getBlockNumber()) + 1n;
  const close = shoppers(name);
  await sleep(1000);
  await stop();
  await start();
  await sleep(2000);
  const bought = await close();
  expect(bought.length).toBeGreaterThan(world.buyers.length);
  await expectOnePolicyPerKey(world, bought, fromBlock);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
});
