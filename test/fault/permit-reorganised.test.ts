/**
 * Reorganisations that drop a permit, its purchase, or both. What this proves, checked on the chain: both are mined again in
 * their order, one policy is bought, and the ledger ends with the chain's receipts.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { mineEverySecond, mineNothing, mineOnlyTransactions } from "../support/chain.ts";
import { isSimulation, policiesOnChain } from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import {
  buyWith,
  expectOnePolicy,
  kindOf,
  newPermit,
  type PermitPurchase,
  permitsTaken,
  sentFor,
} from "./support/permit-purchases.ts";
import { isSending, rpcError } from "./support/testnet-faults.ts";
import { backdateBroadcasts } from "./support/waits.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup({ CONFIRMATIONS: "3" });
});
afterEach(async () => {
  setup.proxy.intercept();
  await mineEverySecond(setup.chain);
});

/** A signed permit in a block that no reorganisation of these tests reaches; then nothing is mined. */
async function prepare() {
  const signed = await newPermit(setup);
  await setup.chain.client.mine({ blocks: 3 });
  await mineNothing(setup.chain);
  return signed;
}
/** Drops the newest blocks. Nothing is sent again until the interceptor is changed. */
async function dropBlocks(depth: number): Promise<void> {
  const { intercept } = setup.proxy;
  intercept(async (call, forward) => (isSending(call) || isSimulation(call) ? "lost" : forward()));
  expect(await askRpc(setup.chain.url, "anvil_reorg", [depth, []])).toEqual({ result: null });
}
/** The blocks of a purchase's transactions, in the order of their nonces; null where one is not mined. */
async function blocksOf({ id, permitId }: PermitPurchase): Promise<(number | null)[]> {
  const rows = await setup.ledger.connection.sql<{ block: number | null }[]>`
    select block_number::int as block from service.transaction where intent in (${id}, ${permitId}) order by nonce`;
  return rows.map(({ block }) => block);
}
/** Sends again and mines on, until the purchase is final. */
async function expectBoughtOnce(bought: PermitPurchase): Promise<void> {
  setup.proxy.intercept();
  await backdateBroadcasts(setup.ledger.connection.sql);
  await mineEverySecond(setup.chain);
  const { receipt } = await confirmed(bought);
  const [policy] = await policiesOnChain(setup.chain, bought.buyer.address);
  expect(receipt).toMatchObject({ blockHash: policy?.blockHash, policyId: policy?.args.policyId });
  await expectOnePolicy(setup, bought);
}
async function confirmed({ id }: PermitPurchase) {
  const purchase = await setup.ledger.inState(id, "confirmed");
  if (!("receipt" in purchase)) throw new Error("no receipt");
  return purchase;
}

test("both are in blocks of their own, and both blocks are dropped: mined again in their order", async () => {
  const signed = await prepare();
  await mineOnlyTransactions(setup.chain);
  setup.proxy.intercept(async (call, forward) => {
    if (isSending(call) && kindOf(setup.chain, call.params[0]) === "purchase") {
      await expect.poll(() => permitsTaken(setup.chain, signed.buyer)).toBe(1n);
    }
    return forward();
  });
  const bought = await buyWith(setup, signed);
  await setup.ledger.inState(bought.id, "mined");
  const [permit, purchase] = await blocksOf(bought);
  expect(permit).toBeLessThan(purchase ?? 0);
  await dropBlocks(2);
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit null", "purchase null"]);
  expect(await permitsTaken(setup.chain, bought.buyer)).toBe(0n);
  await expectBoughtOnce(bought);
});

test("the permit's block is dropped while its purchase is signed and not mined: bought once", async () => {
  const signed = await prepare();
  setup.proxy.intercept(async (call, forward) =>
    isSending(call) && kindOf(setup.chain, call.params[0]) === "purchase" ? "lost" : forward(),
  );
  await mineOnlyTransactions(setup.chain);
  const bought = await buyWith(setup, signed);
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit done", "purchase null"]);
  await dropBlocks(1);
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit null", "purchase null"]);
  expect(await permitsTaken(setup.chain, bought.buyer)).toBe(0n);
  await expectBoughtOnce(bought);
});

test("the permit's block is dropped before its purchase is signed: the purchase waits until the permit is mined again", async () => {
  const signed = await prepare();
  const noSequence = rpcError("the method does not exist");
  let isPermitMined = false;
  setup.proxy.intercept(async (call, forward) => {
    if (call.method === "eth_simulateV1" || (isPermitMined && isSimulation(call))) return noSequence;
    return forward();
  });
  await mineOnlyTransactions(setup.chain);
  const bought = await buyWith(setup, signed);
  await expect.poll(() => permitsTaken(setup.chain, bought.buyer)).toBe(1n);
  isPermitMined = true;
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit done"]);
  await dropBlocks(1);
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit null"]);
  expect(await setup.ledger.read(bought.id)).toMatchObject({ state: "accepted" });
  await expectBoughtOnce(bought);
});
