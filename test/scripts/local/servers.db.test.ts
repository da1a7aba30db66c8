import { join } from "node:path";
import postgres from "postgres";
import { expect, inject, test } from "vitest";
import { startAnvil } from "../../../scripts/local/anvil.ts";
import { commandLine, isRunning, signalPid, waitUntilGone } from "../../../scripts/local/pids.ts";
import { freePort, isPortFree } from "../../../scripts/local/ports.ts";
import { type LocalPostgres, startPostgres } from "../../../scripts/local/postgres.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

async function select(url: string): Promise<unknown> {
  const sql = postgres(url, { max: 1 });
  try {
    const [row] = await sql`select current_database() as name`;
    return row?.name;
  } finally {
    await sql.end();
  }
}

async function startOwnPostgres(name: string): Promise<LocalPostgres> {
  const folder = inject("runFolder");
  const server = await startPostgres({
    dataDir: join(folder, name),
    port: await freePort(),
    logFile: join(folder, `${name}.log`),
    settings: { fsync: false, max_connections: 20 },
  });
  atEnd(server.remove);
  return server;
}

test("each fresh database is a new one on the run's server", async () => {
  const [first, second] = [await freshDatabase({ empty: true }), await freshDatabase()];
  expect(first).not.toBe(second);
  expect(await select(first)).toBe(new URL(first).pathname.slice(1));
});

test("Postgres starts on the data of a killed server", async () => {
  const first = await startOwnPostgres("killed");
  signalPid(first.pid, "SIGKILL");
  const second = await startOwnPostgres("killed");
  expect(second.pid).not.toBe(first.pid);
  expect(await select(second.url)).toBe("postgres");
});

test("Postgres stops a server that an earlier run left on the same data", async () => {
  const left = await startOwnPostgres("left");
  const next = await startOwnPostgres("left");
  expect(isRunning(left.pid)).toBe(false);
  expect(await select(next.url)).toBe("postgres");
});

test("the process id is anvil's, so that killing it frees the port", async () => {
  const port = await freePort();
  const logFile = join(inject("runFolder"), `anvil-${port}.log`);
  const chain = await startAnvil({ port, chainId: 8453, logFile });
  expect(commandLine(chain.pid)).toContain("--prune-history 256");
  signalPid(chain.pid, "SIGKILL");
  expect(await waitUntilGone(chain.pid, 5_000)).toBe(true);
  expect(await isPortFree(port)).toBe(true);
});

test("anvil reports a taken port", async () => {
  const port = await freePort();
  const logFile = join(inject("runFolder"), `anvil-taken-${port}.log`);
  const chain = await startAnvil({ port, chainId: 8453, logFile });
  atEnd(chain.stop);
  await expect(startAnvil({ port, chainId: 8453, logFile })).rejects.toThrow(/the port is taken/);
});
