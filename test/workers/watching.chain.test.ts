/** What the watcher says of the chain and of the ledger: whether a node answers, and up to which block all is settled. */
import { Registry } from "prom-client";
import { type Hex, numberToHex } from "viem";
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { readWatchedBlock } from "../../api/buying/guards.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { storeFiller } from "../../workers/ledger/fillers.ts";
import { raiseNextNonce, takeLease } from "../../workers/ledger/leases.ts";
import { ownTransactions } from "../../workers/ledger/open.ts";
import { createMeter } from "../../workers/metrics/meter.ts";
import { openChain } from "../../workers/relayer/chain.ts";
import { createHead } from "../../workers/relayer/head.ts";
import { createMarket } from "../../workers/relayer/market.ts";
import { createSettler } from "../../workers/relayer/settle.ts";
import { createWatcher } from "../../workers/relayer/watcher.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

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

function newWatcher() {
  const { sql } = connection;
  const { chainId, contracts } = chain.deployment;
  const node = openChain(chain.deployment, chain.url);
  const [log, meter] = [createLogger("test", "silent"), createMeter(new Registry())];
  const coverRouter = lower(contracts.coverRouter);
  const settleReceipts = createSettler({ sql, chain: node, coverRouter, meter, log });
  const head = createHead(node);
  const watch = createWatcher({
    sql,
    chain: node,
    head,
    chainId,
    confirmations: 2,
    market: createMarket(node),
    settleReceipts,
    onHead: async () => {},
    meter,
    log,
  });
  /** What the recovery does: it finds a transaction whose nonce is used by its hash. */
  const recover = async (hash: Hex) => {
    const receipt = await node.receipt(hash);
    await settleReceipts(await ownTransactions(sql, chainId, [hash]), receipt ? [receipt] : []);
  };
  return { watch, recover };
}

/** Sends a transaction and puts it into the ledger as one of ours that is on its way. */
async function sendOurs(): Promise<Hex> {
  const { sql } = connection;
  const { chainId } = chain.deployment;
  const wallet = lower(chain.relayer.address);
  const nonce = await chain.client.getTransactionCount({ address: wallet, blockTag: "pending" });
  const hash = await chain.client.sendTransaction({ account: wallet, to: wallet });
  const lease = await takeLease(sql, { chainId, address: wallet, owner: "me" });
  if (!lease) throw new Error("no lease");
  await raiseNextNonce(sql, lease, nonce + 1);
  const call = { to: wallet, data: "0x", value: 0n, gasLimit: 21_000n } as const;
  await storeFiller(sql, lease, nonce, {
    call,
    signed: { hash, bytes: numberToHex(1, { size: 1 }), maxFee: 1n, priorityFee: 1n },
  });
  return hash;
}

const watched = () => readWatchedBlock(connection.db, chain.deployment.chainId);
const height = () => chain.client.getBlockNumber();

test("a watcher that begins says that all is settled only when nothing of ours lies in blocks that it has not read", async () => {
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

test("so does one that slept for more blocks than it reads at once", async () => {
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

test("what is not mined yet holds nothing up", async () => {
  await chain.client.setAutomine(false);
  await sendOurs();
  const { watch } = newWatcher();
  await watch();
  expect(await watched()).toBe(await height());
  await chain.client.setAutomine(true);
});

test("a node counts as away when it does not answer for its head, and for nothing else", async () => {
  const rpc = await startRpcProxy(chain.url);
  const head = createHead(openChain(chain.deployment, rpc.url), 300);
  // The clock stands still unless the test moves it.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await head.read();
  // Nobody has asked: whoever would have is busy with something else.
  vi.advanceTimersByTime(400);
  expect(head.answers()).toBe(true);
  rpc.intercept(async () => "lost");
  await expect(head.read()).rejects.toThrow();
  expect(head.answers()).toBe(true);
  vi.advanceTimersByTime(400);
  await expect(head.read()).rejects.toThrow();
  expect(head.answers()).toBe(false);
  rpc.intercept();
  await head.read();
  expect(head.answers()).toBe(true);
});
