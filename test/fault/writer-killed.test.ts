/**
 * The writer is killed (SIGKILL) at each step of a purchase and started again. What this proves, checked on the chain:
 * each idempotency key buys exactly one policy, and a signed purchase keeps its nonce.
 */
import type { LocalAccount } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import type { TestChain } from "../support/chain.ts";
import { mayRest, stayOpen } from "../support/database.ts";
import {
  newBuyer,
  policiesOnChain,
  purchaseRequest,
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import type { Interceptor, RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import { restartWriter } from "./support/testnet-faults.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

const PURCHASES = 4;

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;
let round = 0;

beforeAll(async () => {
  ({ chain, proxy, stack, ledger } = await startWriterSetup());
});

/** Several purchases of one buyer at once, each with its own key. */
async function buySeveral(buyer: LocalAccount): Promise<string[]> {
  round += 1;
  const request = purchaseRequest(buyer.address);
  return Promise.all(Array.from({ length: PURCHASES }, (_, n) => ledger.buy(request, `round-${round}-${n}`)));
}

/** An interceptor that kills the writer at the first call of a method, before or after the chain receives it. */
function killAt(
  methods: readonly string[],
  when: "before" | "after",
): { dead: Promise<void>; intercept: Interceptor } {
  let kill: () => void = () => {};
  const dead = new Promise<void>((resolve) => {
    kill = () => resolve(stack.kill9("writer"));
  });
  return {
    dead,
    async intercept(call, forward) {
      if (!methods.includes(call.method)) return forward();
      if (when === "after") await forward();
      kill();
      await dead;
      return "lost";
    },
  };
}

/** Every purchase is one policy on the chain, by its own transaction under one nonce, and every nonce is used. */
async function expectOnePolicyEach(ids: readonly string[], buyer: LocalAccount): Promise<void> {
  const settled = await Promise.all(ids.map((id) => ledger.settled(id)));
  const policies = await policiesOnChain(chain, buyer.address);
  const receipts = settled.map((purchase) =>
    "receipt" in purchase ? purchase.receipt.txHash : purchase.state,
  );
  expect(receipts.toSorted()).toEqual(policies.map((policy) => policy.transactionHash).toSorted());
  expect(policies).toHaveLength(ids.length);
  await expectOneNonceEach(ledger.connection, ids, policies);
  const [wallet] = await ledger.connection.sql<{ next: string; used: string }[]>`
    select w.next_nonce as next, (select count(*) from service.transaction) as used from service.relayer_wallet w`;
  expect(wallet?.used).toBe(wallet?.next);
}

const restart = () => restartWriter({ proxy, stack, connection: ledger.connection });

test("the writer is killed before anything is signed: bought once after the restart", async () => {
  const buyer = await newBuyer(chain);
  const { dead, intercept } = killAt(["eth_simulateV1"], "before");
  proxy.intercept(intercept);
  const ids = await buySeveral(buyer);
  await dead;
  expect(await signedForms(ledger.connection, ...ids)).toEqual([]);
  await restart();
  await expectOnePolicyEach(ids, buyer);
});

/** Buys while the writer cannot write to a table, and kills it as soon as it waits for that table. */
async function killedAtTable(
  table: "service.transaction" | "service.attempt",
  buyer: LocalAccount,
): Promise<string[]> {
  const { sql } = ledger.connection;
  let ids: string[] = [];
  await sql.begin(async (tx) => {
    await mayRest(tx);
    await tx.unsafe(`lock table ${table} in share mode`);
    ids = await buySeveral(buyer);
    await waitFor({
      what: `the writer to write to ${table}`,
      probe: async () => {
        await stayOpen(tx);
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity
          where datname = current_database() and application_name = 'writer' and wait_event_type = 'Lock'
            and query like ${`%insert into ${table}%`}`;
        return row?.n ? true : undefined;
      },
    });
    await stack.kill9("writer");
  });
  await waitFor({
    what: "the dead writer's transaction to end",
    probe: async () => {
      const rows = await sql`
        select 1 from pg_stat_activity
        where datname = current_database() and application_name = 'writer' and state <> 'idle'`;
      return rows.length === 0 ? true : undefined;
    },
  });
  return ids;
}

test("the writer is killed after taking a nonce, before the commit: the nonce is free again", async () => {
  const buyer = await newBuyer(chain);
  const ids = await killedAtTable("service.transaction", buyer);
  await restart();
  await expectOnePolicyEach(ids, buyer);
});

test("the writer is killed after nonces are stored, before the signed bytes are: signed for the same calls", async () => {
  const buyer = await newBuyer(chain);
  const { sql } = ledger.connection;
  const ids = await killedAtTable("service.attempt", buyer);
  const nonces = () => sql<{ intent: string; nonce: string }[]>`
    select intent, nonce from service.transaction where intent = any(${ids}::uuid[]) order by nonce`;
  const before = await nonces();
  expect(before.length).toBeGreaterThan(0);
  expect(await signedForms(ledger.connection, ...ids)).toEqual([]);
  await restart();
  await expectOnePolicyEach(ids, buyer);
  expect((await nonces()).slice(0, before.length)).toEqual(before);
});

test("the writer is killed after storing signed bytes, before sending them: bought under the stored nonces", async () => {
  const buyer = await newBuyer(chain);
  const { dead, intercept } = killAt(["eth_sendRawTransaction"], "before");
  proxy.intercept(intercept);
  const ids = await buySeveral(buyer);
  await dead;
  expect(await signedForms(ledger.connection, ...ids)).not.toEqual([]);
  await restart();
  await expectOnePolicyEach(ids, buyer);
});

test("the writer is killed after the node accepts the bytes, before its answer: nothing gets a second nonce", async () => {
  const buyer = await newBuyer(chain);
  const { dead, intercept } = killAt(["eth_sendRawTransaction"], "after");
  proxy.intercept(intercept);
  const ids = await buySeveral(buyer);
  await dead;
  await restart();
  await expectOnePolicyEach(ids, buyer);
});

test("the writer is killed after mining, before the ledger records it: the receipts settle the purchases", async () => {
  const buyer = await newBuyer(chain);
  const { dead, intercept } = killAt(["eth_getBlockReceipts", "eth_getTransactionReceipt"], "before");
  proxy.intercept(intercept);
  const ids = await buySeveral(buyer);
  await dead;
  expect(await policiesOnChain(chain, buyer.address)).not.toHaveLength(0);
  await restart();
  await expectOnePolicyEach(ids, buyer);
});

test("purchases are accepted while no writer runs: bought once when one starts", async () => {
  const buyer = await newBuyer(chain);
  await stack.kill9("writer");
  const ids = await buySeveral(buyer);
  // It waits until the dead writer's lease has expired.
  await stack.start("writer");
  await expectOnePolicyEach(ids, buyer);
});

test("the writer shuts down during purchases: exits with code 0, and another writer finishes", async () => {
  const writer = stack.running("writer");
  const buyer = await newBuyer(chain);
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  const ids = await buySeveral(buyer);
  await waitFor({
    what: "a purchase to be signed",
    probe: async () => ((await signedForms(ledger.connection, ...ids)).length > 0 ? true : undefined),
  });
  await stack.stopService("writer");
  expect(writer?.exit()).toEqual({ code: 0, signal: null });
  await restart();
  await expectOnePolicyEach(ids, buyer);
});
