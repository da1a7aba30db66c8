import { appendFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { beforeAll, expect, inject, test } from "vitest";
import { exitCodes } from "../../scripts/indexer/exit-codes.ts";
import { freePort, isPortFree } from "../../scripts/local/ports.ts";
import { tail } from "../../scripts/local/processes.ts";
import { startService } from "../../scripts/local/services.ts";
import { copyLauncher, startBundledIndexer } from "../../scripts/local/source-indexer.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { http } from "../support/http.ts";
import { type Stack, startStack } from "../support/stack.ts";

let chain: TestChain;
let stack: Stack;
/** The api's port in the environment. */
let apiPort: number;
let sql: postgres.Sql;

beforeAll(async () => {
  chain = await startChain();
  // A port for the API stands in the environment, as it does wherever all processes share one `.env`.
  apiPort = await freePort();
  stack = await startStack({ chain, services: ["indexer"], env: { indexer: { PORT: String(apiPort) } } });
  sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

const deployments = () =>
  sql<{ name: string }[]>`select schema_name as name from service.indexer_deployment`.then((rows) =>
    rows.map(({ name }) => name),
  );

async function isLocked(): Promise<unknown> {
  const [schema = ""] = await deployments();
  const [row] =
    await sql`select value ->> 'is_locked' as locked from ${sql(schema)}._ponder_meta where key = 'app'`;
  return row?.locked;
}

/** Starts one more indexer with the stack's settings and waits until it gives up. */
async function secondIndexer(ponderPort: number) {
  const folder = join(inject("runFolder"), `second-indexer-${ponderPort}`);
  const child = await startService("indexer", { ...stack.settings, ponderPort }, folder);
  atEnd(async () => void (await child.stop()));
  const { code } = await child.exited;
  return { code, said: tail(child.logFile) };
}

test("it records the one schema that it builds, and serves it through the views schema", async () => {
  const [schema, ...others] = await deployments();
  expect(schema).toMatch(/^idx_[0-9a-f]{12}$/);
  expect(others).toEqual([]);
  const views = () =>
    sql`select table_name as name from information_schema.views where table_schema = 'indexer'`;
  await expect.poll(views).toContainEqual({ name: "policy" });
});

test("it listens on its own port, whatever PORT says", async () => {
  expect((await http(`${stack.ponderUrl}/ready`)).status).toBe(200);
  expect(await isPortFree(apiPort)).toBe(true);
});

test("Ponder answers no SQL over HTTP", async () => {
  expect((await http(`${stack.ponderUrl}/sql/db?sql=select+1`)).status).toBe(404);
});

test("a second one on the same schema is refused, and the first one keeps its lock", async () => {
  const { code, said } = await secondIndexer(await freePort());
  expect({ code, said }).toMatchObject({
    code: exitCodes.schemaTaken,
    said: expect.stringMatching(/served by another/),
  });
  expect(await isLocked()).toBe("1");
  expect((await http(`${stack.ponderUrl}/ready`)).status).toBe(200);
});

test("it refuses a port that is taken instead of quietly taking the next one", async () => {
  const { code, said } = await secondIndexer(stack.settings.ponderPort);
  expect({ code, said }).toMatchObject({ code: 1, said: expect.stringMatching(/PONDER_PORT \d+ is taken/) });
});

test("it refuses sources that have changed since they were bundled, whose rows would be another build's", async () => {
  const folder = mkdtempSync(join(inject("runFolder"), "changed-"));
  copyLauncher(folder, ["ponder.schema.ts", "src", join("dist", "indexer.mjs")]);
  appendFileSync(join(folder, "src", "CoverRouter.ts"), "// changed\n");
  const before = await deployments();
  const child = await startBundledIndexer(folder, stack.settings, folder);
  atEnd(async () => void (await child.stop()));
  expect((await child.exited).code).toBe(1);
  expect(tail(child.logFile)).toContain("changed since they were bundled: run `npm run build`");
  expect(await deployments()).toEqual(before);
});

test("after a kill -9 it takes up its schema again without waiting for the dead one's lock to lapse", async () => {
  // By now the node has forgotten the old states by which the first start found the feeds' phases.
  await chain.client.mine({ blocks: 300 });
  await stack.kill9("indexer");
  expect(await isLocked()).toBe("1");
  await stack.start("indexer");
  expect(await deployments()).toHaveLength(1);
  expect(stack.output("indexer")).not.toMatch(/locked by/i);
});

test("told to stop, it puts its lock down", async () => {
  await stack.stopService("indexer");
  expect(await isLocked()).toBe("0");
});
