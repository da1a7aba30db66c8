/**
 * The database's host vanishes: the connections of api and writer stay open and silent, and new ones reach a server, as after a
 * failover. What this proves: both find that out by themselves, at several steps of a purchase; clients that retry get their
 * policies without a restart of the service, and each key buys one policy, also where a lost statement was committed.
 */
import { beforeAll, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest, waitForLockWaiter } from "../support/database.ts";
import { isSimulation } from "../support/ledger.ts";
import type { RpcCall } from "../support/rpc-proxy.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectNoNonceGaps,
  expectOnePolicyPerKey,
} from "./support/assertions.ts";
import { buyAll, type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";
import { isSending } from "./support/testnet-faults.ts";

let database: TcpProxy;
let databaseUrl: string;
let setup: PurchaseSetup;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  database = await startTcpProxy(databaseUrl);
  setup = await startPurchaseSetup({ buyers: 2, databaseUrl: database.url });
});

/** Starts a purchase of each buyer, and waits for their policies in `bought`. */
function startBuying(name: string) {
  const bought = buyAll(setup, name, setup.buyers.length);
  bought.catch(() => {}); // awaited later
  return bought;
}

async function expectBoughtOnce(fromBlock: bigint, ...bought: Promise<CompletedPurchase[]>[]) {
  await expectOnePolicyPerKey(setup, (await Promise.all(bought)).flat(), fromBlock);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
}

const nextBlock = async () => (await setup.chain.client.getBlockNumber()) + 1n;

/** Makes the database vanish at the writer's next such call, before or after the node has received it. */
function vanishAt(isCall: (call: RpcCall) => boolean, when: "before" | "after"): { vanished: () => boolean } {
  let vanished = false;
  setup.proxy.intercept(async (call, forward) => {
    if (vanished || !isCall(call)) return forward();
    vanished = true;
    const answer = when === "after" ? await forward() : undefined;
    database.vanish();
    return answer ?? forward();
  });
  return { vanished: () => vanished };
}

test("the database vanishes before a purchase is accepted: bought once, and the api hears of the next as well", async () => {
  const fromBlock = await nextBlock();
  const { sql, close } = connect(databaseUrl, { name: "test-sessions", max: 1 });
  atEnd(close);
  const listeners = async () => {
    const rows = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and application_name = 'purchase-waiter'`;
    return rows.map(({ pid }) => pid);
  };
  const before = startBuying("before");
  await before;
  await expect.poll(listeners).toHaveLength(1);
  const [listening] = await listeners();
  database.vanish();
  const during = startBuying("during");
  await during;
  await waitFor({
    what: "the api to listen on a new connection",
    probe: async () => {
      const now = await listeners();
      return (now.length === 1 && now[0] !== listening) || undefined;
    },
  });
  await expectBoughtOnce(fromBlock, before, during, startBuying("afterwards"));
});

test("the database vanishes while it records a purchase, and commits it: bought once", async () => {
  const fromBlock = await nextBlock();
  const { sql, close } = connect(databaseUrl, { name: "test-lock", max: 2 });
  atEnd(close);
  let bought: Promise<CompletedPurchase[]> | undefined;
  await sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`lock table service.purchase in share mode`;
    bought = startBuying("recorded");
    await waitForLockWaiter(sql, "relation");
    database.vanish();
  });
  // The server runs the lost statement to its end, before a new connection repeats it or after.
  if (!bought) throw new Error("nothing was bought");
  await expectBoughtOnce(fromBlock, bought);
});

test.each([
  ["once the transaction is sent", isSending, "after"],
  ["between acceptance and signature", isSimulation, "before"],
] as const)("the database vanishes %s: bought once", async (name, isCall, when) => {
  const fromBlock = await nextBlock();
  const fault = vanishAt(isCall, when);
  const bought = startBuying(name.replaceAll(" ", "-"));
  await bought;
  expect(fault.vanished()).toBe(true);
  setup.proxy.intercept();
  await expectBoughtOnce(fromBlock, bought);
});
