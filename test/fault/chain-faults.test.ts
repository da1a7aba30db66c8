/**
 * A node that loses answers, refuses calls, goes away, or reorganises. What this proves, checked on the chain: each
 * purchase buys one policy, none fails that may still be mined, and the ledger ends with the chain's receipt; a hundred at once
 * need few calls.
 */
import { keccak256, type LocalAccount } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { approveUsdc, openProtocol, type Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions, type TestChain } from "../support/chain.ts";
import {
  isSimulation,
  newBuyer,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { askRpc, HttpFault, type RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import { isSending } from "./support/testnet-faults.ts";
import { waitUntilPostponed } from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

const CONFIRMATIONS = 4;

let chain: TestChain;
let protocol: Protocol;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  ({ chain, proxy, stack, ledger } = await startWriterSetup({ CONFIRMATIONS: String(CONFIRMATIONS) }));
  protocol = openProtocol(chain.deployment, chain.url);
});
let miningStopped = false;
/** Mines no empty blocks until `mineAgain` or the test's end: a reorganisation still reaches the newest transactions. */
async function stopMining(): Promise<void> {
  miningStopped = true;
  await mineOnlyTransactions(chain);
}
async function mineAgain(): Promise<void> {
  miningStopped = false;
  await mineEverySecond(chain);
}

afterEach(async () => {
  proxy.intercept();
  if (miningStopped) await mineAgain();
});

const buySeveral = (buyer: LocalAccount, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      ledger.buy(purchaseRequest(buyer.address), `${buyer.address}-${n}`),
    ),
  );

async function expectOnePolicyEach(ids: readonly string[], buyer: LocalAccount): Promise<void> {
  const settled = await Promise.all(ids.map((id) => ledger.settled(id)));
  const policies = await policiesOnChain(chain, buyer.address);
  const receipts = settled.map((one) => ("receipt" in one ? one.receipt.txHash : one.state));
  expect(receipts.toSorted()).toEqual(policies.map((policy) => policy.transactionHash).toSorted());
  expect(policies).toHaveLength(ids.length);
}

test("the answer to every broadcast is lost: bought once", async () => {
  const buyer = await newBuyer(chain);
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    return call.method === "eth_sendRawTransaction" ? "lost" : answer;
  });
  await expectOnePolicyEach(await buySeveral(buyer, 3), buyer);
});

test("the first broadcasts never reach the chain: the stored bytes are sent again", async () => {
  const buyer = await newBuyer(chain);
  const seen = new Map<unknown, number>();
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_sendRawTransaction") return forward();
    const bytes = call.params[0];
    seen.set(bytes, (seen.get(bytes) ?? 0) + 1);
    if ((seen.get(bytes) ?? 0) < 2) throw new HttpFault(500);
    return forward();
  });
  const ids = await buySeveral(buyer, 3);
  await expectOnePolicyEach(ids, buyer);
  await expectOneNonceEach(ledger.connection, ids, await policiesOnChain(chain, buyer.address));
});

test("the node limits requests to ten per second: a hundred purchases at once are all bought", async () => {
  const buyer = await newBuyer(chain);
  proxy.limit(10);
  const ids = await buySeveral(buyer, 100);
  await expectOnePolicyEach(ids, buyer);
  proxy.limit();
});

test("the node hides receipts of mined transactions for a while: nothing fails, nothing gets a second nonce", async () => {
  const buyer = await newBuyer(chain);
  let searches = 0;
  proxy.intercept(async (call, forward) => {
    // The writer reads a block with its transactions only to find the transaction that used a nonce.
    if (call.method === "eth_getBlockByNumber" && call.params[1] === true) searches += 1;
    return /Receipt/.test(call.method) ? { result: null } : forward();
  });
  const ids = await buySeveral(buyer, 3);
  await waitFor({
    what: "three searches of the writer for the transactions that used the nonces",
    probe: () => searches >= 3 || undefined,
  });
  for (const id of ids) expect(await ledger.read(id)).toMatchObject({ state: "broadcast" });
  proxy.intercept();
  await expectOnePolicyEach(ids, buyer);
  await expectOneNonceEach(ledger.connection, ids, await policiesOnChain(chain, buyer.address));
});

test("the node is away for a while: the purchase waits, and is bought when the node is back", async () => {
  const buyer = await newBuyer(chain);
  proxy.intercept(async () => "lost");
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await waitUntilPostponed(stack, id, 3);
  expect(await ledger.read(id)).toMatchObject({ state: "accepted" });
  proxy.intercept();
  await expectOnePolicyEach([id], buyer);
});

/** Buys, and revokes the allowance between the simulation and the block. */
async function buyWithoutAllowance(buyer: LocalAccount): Promise<string> {
  // Every broadcast waits until the allowance is revoked: otherwise an early one would buy.
  let revoked: Promise<unknown> | undefined;
  proxy.intercept(async (call, forward) => {
    if (call.method === "eth_sendRawTransaction") {
      revoked ??= approveUsdc(protocol, buyer, chain.deployment.contracts.coverRouter, 0n);
      await revoked;
    }
    return forward();
  });
  return ledger.buy(purchaseRequest(buyer.address));
}

test("a reorganisation undoes a revert: the same transaction buys, and no failure is reported meanwhile", async () => {
  const buyer = await newBuyer(chain);
  await chain.client.mine({ blocks: 3 });
  await stopMining();
  const id = await buyWithoutAllowance(buyer);
  await waitFor({
    what: "the revert to be seen",
    probe: async () => {
      const rows = await ledger.connection.sql`
        select 1 from service.purchase_progress where id = ${id} and state = 'failed' and final_at is null`;
      return rows.length > 0 ? true : undefined;
    },
  });
  expect(await ledger.read(id)).toMatchObject({ state: "broadcast" });
  expect(await askRpc(chain.url, "anvil_reorg", [3, []])).toEqual({ result: null });
  await mineAgain();
  await expectOnePolicyEach([(await ledger.inState(id, "confirmed")).id], buyer);
});

test("a reorganisation moves a transaction to another block: the receipt names that block", async () => {
  const buyer = await newBuyer(chain);
  await chain.client.mine({ blocks: 3 }); // keeps the approval out of the reorganisation
  await stopMining();
  const id = await ledger.buy(purchaseRequest(buyer.address));
  const before = await ledger.inState(id, "mined");
  if (!("receipt" in before)) throw new Error("no receipt");
  const [row] = await ledger.connection.sql<{ signed: `0x${string}` }[]>`
    select signed from service.attempt where hash = ${before.receipt.txHash}`;
  if (!row) throw new Error("no bytes");
  expect(keccak256(row.signed)).toBe(before.receipt.txHash);
  expect(await askRpc(chain.url, "anvil_reorg", [3, [[row.signed, 1]]])).toEqual({ result: null });
  await mineAgain();
  await waitFor({
    what: "the receipt to name the new block",
    probe: async () => {
      const now = await ledger.read(id);
      const [policy] = await policiesOnChain(chain, buyer.address);
      if (!("receipt" in now) || !policy) return undefined;
      return now.receipt.blockHash === policy.blockHash && now.receipt.blockHash !== before.receipt.blockHash
        ? true
        : undefined;
    },
  });
});

test("another program uses the nonce: once that is on the chain, the purchase gets another nonce", async () => {
  const buyer = await newBuyer(chain);
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  const id = await ledger.buy(purchaseRequest(buyer.address));
  const [taken] = await waitFor({
    what: "the purchase to be signed",
    probe: async () => {
      const rows = await ledger.connection.sql<{ nonce: string }[]>`
        select nonce from service.transaction where intent = ${id}`;
      return rows.length > 0 ? rows : undefined;
    },
  });
  const outside = await chain.client.sendTransaction({
    account: chain.relayer,
    to: chain.owner.address,
    value: 1n,
    nonce: Number(taken?.nonce),
    chain: null,
  });
  await chain.client.waitForTransactionReceipt({ hash: outside });
  proxy.intercept();
  await expectOnePolicyEach([id], buyer);
  const rows = await ledger.connection.sql<{ state: string }[]>`
    select state from service.transaction where intent = ${id} order by nonce`;
  expect(rows.map((row) => row.state)).toEqual(["lost", expect.stringMatching(/mined|final/)]);
});

test("a hundred purchases at once need at most two node calls each", async () => {
  const buyer = await newBuyer(chain);
  // On a slow machine the writer polls more often and sends bytes again: only each purchase's own calls count.
  let simulations = 0;
  const sent = new Set<unknown>();
  proxy.intercept(async (call, forward) => {
    if (isSimulation(call)) simulations += 1;
    if (isSending(call)) sent.add(call.params[0]);
    return forward();
  });
  await mineEverySecond(chain); // and no other blocks
  await expectOnePolicyEach(await buySeveral(buyer, 100), buyer);
  expect(simulations + sent.size).toBeLessThanOrEqual(200);
});
