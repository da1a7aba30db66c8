/** The block watcher: whether the node answers, and up to which block all our transactions are settled. */
import { Registry } from "prom-client";
import type { Hex } from "viem";
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { readWatchedBlock } from "../../api/buying/refusal-reasons.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { ownTransactions } from "../../workers/ledger/transactions.ts";
import { createMeter } from "../../workers/metrics/relay-meter.ts";
import { openChain } from "../../workers/relayer/chain.ts";
import { createFeeMarket } from "../../workers/relayer/fees.ts";
import { type SettleReceipts, settleReceipts } from "../../workers/relayer/settle-receipts.ts";
import { createChainHead, type WatcherContext, watchBlocks } from "../../workers/relayer/watch-blocks.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { askRpc, startRpcProxy } from "../support/rpc-proxy.ts";
import { storeSignedFiller } from "./support/signed-filler.ts";

let chain: TestChain;
let connection: Connection;
beforeAll(async () => {
  chain = await startChain();
});
beforeEach(async () => {
  const databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
});

function newWatcher(options: Partial<Pick<WatcherContext, "head" | "onHead">> = {}) {
  const { sql } = connection;
  const { chainId, contracts } = chain.deployment;
  const node = openChain(chain.deployment, chain.url);
  const [log, meter] = [createLogger("test", "silent"), createMeter(new Registry())];
  const settler = { sql, chain: node, coverRouter: lower(contracts.coverRouter), meter, log };
  const settle: SettleReceipts = (own, receipts) => settleReceipts(settler, own, receipts);
  const context: WatcherContext = {
    sql,
    chain: node,
    head: createChainHead(node),
    chainId,
    confirmations: 2,
    market: createFeeMarket(node, 1n),
    settleReceipts: settle,
    onHead: async () => {},
    meter,
    log,
    ...options,
  };
  /** Settles a transaction as the recovery does, by its receipt. */
  const recover = async (hash: Hex) => {
    const receipt = await node.receipt(hash);
    await settle(await ownTransactions(sql, chainId, [hash]), receipt ? [receipt] : []);
  };
  return { watch: () => watchBlocks(context), recover };
}

/** Sends a transaction and stores it in the ledger as an open one of ours. */
async function sendOurs(): Promise<Hex> {
  const { sql } = connection;
  const { chainId } = chain.deployment;
  const wallet = lower(chain.relayer.address);
  const nonce = await chain.client.getTransactionCount({ address: wallet, blockTag: "pending" });
  const hash = await chain.client.sendTransaction({ account: wallet, to: wallet });
  const lease = await takeLease(sql, { chainId, address: wallet, owner: "me" });
  if (!lease) throw new Error("no lease");
  await startNonces(sql, lease, nonce + 1);
  await storeSignedFiller(sql, lease, nonce, hash);
  return hash;
}

const watched = () => readWatchedBlock(connection.sql, chain.deployment.chainId);
const height = () => chain.client.getBlockNumber();

test("a new watcher reports a block only once transactions in earlier, unread blocks are settled", async () => {
  const hash = await sendOurs();
  await chain.client.mine({ blocks: 5 });
  const { watch, recover } = newWatcher();
  await watch();
  expect(await watched()).toBeUndefined();
  await chain.client.mine({ blocks: 1 });
  await watch();
  expect(await watched()).toBeUndefined();
  await recover(hash);
  await chain.client.mine({ blocks: 1 });
  await watch();
  expect(await watched()).toBe(await height());
});

test("so does a watcher that paused for more blocks than one round reads", async () => {
  const { watch, recover } = newWatcher();
  await watch();
  const before = await height();
  expect(await watched()).toBe(before);
  const hash = await sendOurs();
  await chain.client.mine({ blocks: 100 });
  await watch();
  expect(await watched()).toBe(before);
  await recover(hash);
  await chain.client.mine({ blocks: 1 });
  await watch();
  expect(await watched()).toBe(await height());
});

test("a transaction that is not mined yet does not delay the report", async () => {
  await chain.client.setAutomine(false);
  await sendOurs();
  const { watch } = newWatcher();
  await watch();
  expect(await watched()).toBe(await height());
  await chain.client.setAutomine(true);
});

test("blocks above a reorganisation's first head count as replaced when the chain has them again", async () => {
  const node = openChain(chain.deployment, chain.url);
  // Without this transaction the new branch would have the same empty blocks.
  await chain.client.sendTransaction({ account: chain.owner, to: chain.owner.address });
  await chain.client.mine({ blocks: 4 });
  const top = await height();
  // A node reports its head while it is still applying the new branch.
  const heads = [top, top - 2n, top - 1n, top, top + 1n];
  const seen: [bigint, boolean][] = [];
  const { watch } = newWatcher({
    head: {
      async read() {
        const block = await node.block(heads[seen.length] ?? "latest");
        if (!block) throw new Error("no such block");
        return block;
      },
    },
    onHead: async ({ number }, reorganised) => void seen.push([number - top, reorganised]),
  });
  await watch();
  expect(await askRpc(chain.url, "anvil_reorg", [5, []])).toEqual({ result: null });
  await chain.client.mine({ blocks: 1 });
  for (let round = 1; round < heads.length; round += 1) await watch();
  expect(seen).toEqual([
    [0n, false],
    [-2n, true],
    [-1n, true],
    [0n, true],
    [1n, false],
  ]);
});

test("a node counts as away only when it does not answer requests for its head", async () => {
  const rpc = await startRpcProxy(chain.url);
  const head = createChainHead(openChain(chain.deployment, rpc.url), 300);
  // The clock stands still unless the test advances it.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await head.read();
  // No request for a while, because the watcher is busy with something else.
  vi.advanceTimersByTime(400);
  expect(head.isNodeAnswering()).toBe(true);
  rpc.intercept(async () => "lost");
  await expect(head.read()).rejects.toThrow();
  expect(head.isNodeAnswering()).toBe(true);
  vi.advanceTimersByTime(400);
  await expect(head.read()).rejects.toThrow();
  expect(head.isNodeAnswering()).toBe(false);
  rpc.intercept();
  await head.read();
  expect(head.isNodeAnswering()).toBe(true);
});
