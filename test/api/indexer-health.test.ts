/** What this proves: the indexer's health tells apart all that can be the matter with it, and each passes by itself. */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { signalPid } from "../../scripts/local/pids.ts";
import { mineAt, openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { askRpc, HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { failure } from "./support/api.ts";

const DAY = 86_400n;
/** Ponder loads in two seconds alone, and takes far longer while other tests have both cores. */
const slowMs = 100_000;

let chain: TestChain;
let stack: Stack;
let request: CheckedRequest;
/** The ways by which the indexer sees the chain, and the api the chain and the database. */
let indexersNode: RpcProxy;
let apisNode: RpcProxy;
let apisDatabase: TcpProxy;

const nowSeconds = () => BigInt(Math.floor(Date.now() / 1000));

const health = z.object({
  status: z.string(),
  condition: z.string(),
  lastSyncedBlock: z.string(),
  headBlock: z.string(),
  lagBlocks: z.string(),
  headTimestamp: z.string(),
  heartbeatAt: z.string().nullable(),
});
const ask = () => request("/api/v1/indexer/health");

/** Waits until the health has this condition, and has read up to this block; resolves to it. */
const healthOnce = (condition: string, block?: bigint, from = ask) =>
  waitFor({
    what: `the indexer to be ${condition}`,
    probe: async () => {
      const { data } = health.safeParse((await from()).json);
      const isThere = block === undefined || data?.lastSyncedBlock === String(block);
      return data?.condition === condition && isThere ? data : undefined;
    },
    timeoutMs: slowMs,
  });

/** Waits until the health is this failure. */
const failureOnce = (status: number, code: string) =>
  waitFor({
    what: `the health to be ${status} ${code}`,
    probe: async () => {
      const answer = await ask();
      if (answer.status !== status) return undefined;
      expect(failure(answer)).toEqual([status, code]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      return true;
    },
    timeoutMs: slowMs,
  });

/** From now on the indexer's node says that the chain's newest block is this one. */
const endAt = (block: bigint) =>
  indexersNode.intercept(({ method, params }, forward) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? askRpc(chain.url, method, [`0x${block.toString(16)}`, params[1]])
      : forward(),
  );

beforeAll(async () => {
  // The chain's clock stands a day back until a test sets it: nothing has happened on it for long.
  chain = await startChain({ timestamp: nowSeconds() - DAY });
  await chain.client.setBlockTimestampInterval({ interval: 1 });
  const databaseUrl = await freshDatabase();
  indexersNode = await startRpcProxy(chain.url);
  apisNode = await startRpcProxy(chain.url);
  apisDatabase = await startTcpProxy(databaseUrl);
  stack = await startStack({
    chain,
    databaseUrl,
    services: ["api"],
    env: {
      api: { RPC_URL: apisNode.url, DATABASE_URL: apisDatabase.url },
      indexer: { RPC_URL: indexersNode.url },
    },
  });
  request = await checkedRequests(stack.apiUrl);
});

test("where no indexer was ever started, there is none", async () => {
  await failureOnce(503, "indexer_unavailable");
});

test("one that still reads the past is backfilling", async () => {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  indexersNode.intercept(async ({ method }, forward) => {
    if (method === "eth_getLogs") await released;
    return forward();
  });
  await stack.start("indexer", { wait: false });
  expect(await healthOnce("backfilling")).toMatchObject({ status: "syncing", lastSyncedBlock: "0" });
  release();
  indexersNode.intercept();
});

test("one that has read all of a chain on which nothing happens is synced, and the chain is quiet", async () => {
  const { number, timestamp } = await chain.client.getBlock();
  expect(await healthOnce("quiet")).toMatchObject({
    status: "synced",
    lastSyncedBlock: String(number),
    headBlock: String(number),
    lagBlocks: "0",
    headTimestamp: String(timestamp),
    heartbeatAt: expect.stringMatching(/^\d+$/),
  });
});

test("one that has read a new block has caught up", async () => {
  await mineAt(openProtocol(chain.deployment, chain.url), nowSeconds() + 30n);
  const mined = await chain.client.getBlockNumber();
  expect(await healthOnce("caught_up", mined)).toMatchObject({ status: "synced", lagBlocks: "0" });
});

test("one whose node is behind is behind itself, though it lives, and catches up", async () => {
  const seen = await chain.client.getBlockNumber();
  endAt(seen);
  for (let blocks = 0; blocks < 11; blocks += 1) await chain.client.mine({ blocks: 1 });
  expect(await healthOnce("behind", seen)).toMatchObject({
    status: "lagging",
    headBlock: String(seen + 11n),
    lagBlocks: "11",
  });
  indexersNode.intercept();
  // From here on the chain's clock is ahead, so that it is not quiet however long the other tests take.
  await mineAt(openProtocol(chain.deployment, chain.url), nowSeconds() + DAY);
  expect(await healthOnce("caught_up", seen + 12n)).toMatchObject({ status: "synced", lagBlocks: "0" });
});

test("without the chain nobody can say how far behind it is", async () => {
  apisNode.intercept(() => Promise.reject(new HttpFault(500)));
  await failureOnce(503, "chain_not_found");
  apisNode.intercept();
  await healthOnce("caught_up");
});

test("without the database nobody can say how far it is", async () => {
  await apisDatabase.cut();
  await failureOnce(503, "database_unavailable");
  await apisDatabase.mend();
  await healthOnce("caught_up");
});

test("one that was killed is down soon, though no block has come that it could have missed", async () => {
  const { heartbeatAt } = await healthOnce("caught_up");
  await stack.kill9("indexer");
  const down = await healthOnce("down");
  expect(down).toMatchObject({ status: "lagging", lagBlocks: "0" });
  // It gave a last sign of life after we looked, or none any more: readers wait ten seconds for the next.
  expect(Number(down.heartbeatAt)).toBeGreaterThanOrEqual(Number(heartbeatAt));
  expect(Date.now() / 1000 - Number(down.heartbeatAt)).toBeGreaterThanOrEqual(10);
  await stack.start("indexer", { wait: false });
  await healthOnce("caught_up");
});

test("one that hangs is down as well, and up again when it goes on", async () => {
  const { pid } = await stack.restart("indexer");
  await healthOnce("caught_up");
  signalPid(pid, "SIGSTOP");
  atEnd(async () => void signalPid(pid, "SIGCONT"));
  expect(await healthOnce("down")).toMatchObject({ status: "lagging", lagBlocks: "0" });
  signalPid(pid, "SIGCONT");
  await healthOnce("caught_up");
});

test("one that died while it read the past is down, and there is still nothing to read", async () => {
  const late = await startStack({
    chain,
    services: ["api"],
    env: { indexer: { RPC_URL: indexersNode.url } },
  });
  const requestLate = await checkedRequests(late.apiUrl);
  const askLate = () => requestLate("/api/v1/indexer/health");
  indexersNode.intercept(({ method }, forward) =>
    method === "eth_getLogs" ? new Promise(() => {}) : forward(),
  );
  await late.start("indexer", { wait: false });
  await healthOnce("backfilling", 0n, askLate);
  await late.kill9("indexer");
  expect(await healthOnce("down", 0n, askLate)).toMatchObject({ status: "syncing" });
});
