/** What this proves: the indexer's health distinguishes every condition, and each one ends with its cause. */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { signalPid } from "../../scripts/local/pids.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { isIndexScan } from "../support/launcher-scan.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { mineAt } from "../support/protocol-actions.ts";
import { askRpc, HttpFault, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { failure } from "./support/api.ts";

const DAY = 86_400n;
/** Ponder starts in 2 s on an idle machine, and takes far longer while other tests use both cores. */

let chain: TestChain;
let stack: Stack;
let request: CheckedRequest;
let indexerPid: number;
/** Proxies between the indexer and the chain, the api and the chain, and the api and the database. */
let indexerNode: RpcProxy;
let apiNode: RpcProxy;
let apiDatabase: TcpProxy;

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
const getHealth = () => request("/api/v1/indexer/health");

/**
 * Waits until the health has this condition, and this last block if given. @returns the health. On a busy machine a minute may pass,
 * after which a chain without new blocks is quiet: then another block is mined.
 */
const waitForCondition = (condition: string, block?: bigint, read = getHealth) =>
  waitFor({
    what: `the indexer to be ${condition}`,
    probe: async () => {
      const { data } = health.safeParse((await read()).json);
      if (data?.condition === "quiet" && block === undefined) await chain.client.mine({ blocks: 1 });
      const isThere = block === undefined || data?.lastSyncedBlock === String(block);
      return data?.condition === condition && isThere ? data : undefined;
    },
  });

/** Waits until the health responds with this error. */
const waitForFailure = (status: number, code: string) =>
  waitFor({
    what: `the health to be ${status} ${code}`,
    probe: async () => {
      const answer = await getHealth();
      if (answer.status !== status) return undefined;
      expect(failure(answer)).toEqual([status, code]);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      return true;
    },
  });

/** Makes the indexer's node report this block as the newest. */
const reportNewestBlock = (block: bigint) =>
  indexerNode.intercept(({ method, params }, forward) =>
    method === "eth_getBlockByNumber" && params[0] === "latest"
      ? askRpc(chain.url, method, [`0x${block.toString(16)}`, params[1]])
      : forward(),
  );

beforeAll(async () => {
  // The chain's clock is a day behind until a test sets it, which makes no block of it late.
  chain = await startChain({ timestamp: nowSeconds() - DAY });
  await chain.client.setBlockTimestampInterval({ interval: 1 });
  const databaseUrl = await freshDatabase();
  indexerNode = await startRpcProxy(chain.url);
  apiNode = await startRpcProxy(chain.url);
  apiDatabase = await startTcpProxy(databaseUrl);
  stack = await startStack({
    chain,
    databaseUrl,
    services: ["api"],
    env: {
      api: { RPC_URL: apiNode.url, DATABASE_URL: apiDatabase.url },
      indexer: { RPC_URL: indexerNode.url },
    },
  });
  request = await checkedRequests(stack.apiUrl);
});

test("before an indexer was started, the health gets 503 indexer_unavailable", async () => {
  await waitForFailure(503, "indexer_unavailable");
});

test("an indexer that still reads past blocks is backfilling", async () => {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  indexerNode.intercept(async (call, forward) => {
    if (isIndexScan(call)) await released;
    return forward();
  });
  ({ pid: indexerPid } = await stack.start("indexer", { wait: false }));
  expect(await waitForCondition("backfilling")).toMatchObject({ status: "syncing", lastSyncedBlock: "0" });
  release();
  indexerNode.intercept();
});

test("an indexer that has read all blocks of a chain whose clock is a day behind is caught_up", async () => {
  await chain.client.mine({ blocks: 1 });
  const { number, timestamp } = await chain.client.getBlock();
  expect(await waitForCondition("caught_up", number)).toMatchObject({
    status: "synced",
    lastSyncedBlock: String(number),
    headBlock: String(number),
    lagBlocks: "0",
    headTimestamp: String(timestamp),
    heartbeatAt: expect.stringMatching(/^\d+$/),
  });
});

test("an indexer that has read a new block is caught_up", async () => {
  await mineAt(openProtocol(chain.deployment, chain.url), nowSeconds() + 30n);
  const mined = await chain.client.getBlockNumber();
  expect(await waitForCondition("caught_up", mined)).toMatchObject({ status: "synced", lagBlocks: "0" });
});

test("an indexer with a lagging node is behind, and catches up with its node", async () => {
  const seen = await chain.client.getBlockNumber();
  reportNewestBlock(seen);
  for (let blocks = 0; blocks < 11; blocks += 1) await chain.client.mine({ blocks: 1 });
  expect(await waitForCondition("behind", seen)).toMatchObject({
    status: "lagging",
    headBlock: String(seen + 11n),
    lagBlocks: "11",
  });
  indexerNode.intercept();
  await mineAt(openProtocol(chain.deployment, chain.url), nowSeconds() + DAY);
  expect(await waitForCondition("caught_up", seen + 12n)).toMatchObject({ status: "synced", lagBlocks: "0" });
});

test("without the chain the health gets 503 chain_not_found, and what the burners hold is unknown", async () => {
  apiNode.intercept(() => Promise.reject(new HttpFault(500)));
  await waitForFailure(503, "chain_not_found");
  const unknown = { pending_usdc: null };
  expect((await request("/api/v1/stats/burners")).json).toMatchObject({ burners: [unknown, unknown] });
  apiNode.intercept();
  await waitForCondition("caught_up");
});

test("without the database the health gets 503 database_unavailable", async () => {
  await apiDatabase.cut();
  await waitForFailure(503, "database_unavailable");
  await apiDatabase.mend();
  await waitForCondition("caught_up");
});

// Both wait for the same time without a heartbeat, which is all that the health knows of an indexer that is gone.
test("a hanging indexer is down, even without a new block, and caught_up once it continues; one that died during its backfill is down, with status syncing", async () => {
  const late = await startStack({ chain, services: ["api"], env: { indexer: { RPC_URL: indexerNode.url } } });
  const requestLate = await checkedRequests(late.apiUrl);
  const getLateHealth = () => requestLate("/api/v1/indexer/health");
  indexerNode.intercept((call, forward) => (isIndexScan(call) ? new Promise(() => {}) : forward()));
  await late.start("indexer", { wait: false });
  await waitForCondition("backfilling", 0n, getLateHealth);

  const { heartbeatAt } = await waitForCondition("caught_up");
  signalPid(indexerPid, "SIGSTOP");
  atEnd(async () => void signalPid(indexerPid, "SIGCONT"));
  await late.kill9("indexer");
  const [down, lateDown] = await Promise.all([
    waitForCondition("down"),
    waitForCondition("down", 0n, getLateHealth),
  ]);
  expect(lateDown).toMatchObject({ status: "syncing" });
  expect(down).toMatchObject({ status: "lagging", lagBlocks: "0" });
  // The last heartbeat may be newer than the one read above; the indexer counts as down after 10 s without one.
  expect(Number(down.heartbeatAt)).toBeGreaterThanOrEqual(Number(heartbeatAt));
  expect(Date.now() / 1000 - Number(down.heartbeatAt)).toBeGreaterThanOrEqual(10);
  signalPid(indexerPid, "SIGCONT");
  indexerNode.intercept();
  await waitForCondition("caught_up");
});
