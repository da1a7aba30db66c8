/**
 * The writer is killed (SIGKILL) before the bytes of a filler, the empty transfer that closes a nonce gap, are stored, and after they
 * are sent, and started again. What this proves, checked on the chain: the gap's nonce is used once, by a filler, and the purchase
 * that waits behind it buys one policy.
 */
import { isHex, parseTransaction } from "viem";
import { beforeAll, expect, test } from "vitest";
import type { TestChain } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import type { RpcCall, RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import {
  isSending,
  killAtCall,
  killAtStatement,
  restartWriter,
  type WriterKill,
} from "./support/testnet-faults.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  ({ chain, proxy, stack, ledger } = await startWriterSetup());
});

/** Whether a call sends the transaction of this nonce. */
function sends({ method, params }: RpcCall, nonce: number): boolean {
  const [raw] = params;
  return isSending({ id: 0, method, params }) && isHex(raw) && parseTransaction(raw).nonce === nonce;
}

/** Makes the purchase behind the gap. */
type Buy = () => Promise<void>;

/** Kills the writer while it waits for the lock on the signed bytes; the recovery looks at the gap only once the lock is held. */
async function killBeforeStored(gap: number, buy: Buy): Promise<WriterKill> {
  let locked: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    locked = resolve;
  });
  let isSent = false;
  proxy.intercept(async (call, forward) => {
    isSent ||= sends(call, gap + 1);
    if (isSent && call.method === "eth_getTransactionCount") await ready;
    return forward();
  });
  await buy();
  const kill = await killAtStatement(
    { connection: ledger.connection, stack },
    (tx) => tx`lock table service.attempt in share mode`,
    "insert into service.attempt",
  );
  locked();
  return kill;
}

/** Kills the writer once the node has the filler, which comes seconds after the purchase is made. */
async function killAfterSent(gap: number, buy: Buy): Promise<WriterKill> {
  const kill = killAtCall({ proxy, stack }, (call) => sends(call, gap), "after");
  await buy();
  return kill;
}

const steps = [
  ["before its signed bytes are stored", killBeforeStored],
  ["after the node has it", killAfterSent],
] as const;

test.each(steps)("%s: one filler, and one policy behind it", async (_, killAt) => {
  const { sql } = ledger.connection;
  const buyer = await newBuyer(chain);
  await stack.kill9("writer");
  // As if another program had used the nonce in a transaction that has left the node's pool. The lease of the dead writer ends.
  const [wallet] = await sql<{ gap: number }[]>`
    update service.relayer_wallet set next_nonce = next_nonce + 1, lease_until = now()
    returning next_nonce::int - 1 as gap`;
  const gap = wallet?.gap ?? -1;
  await stack.start("writer");
  let id = "";
  const { dead } = await killAt(gap, async () => {
    id = await ledger.buy(purchaseRequest(buyer.address));
    await ledger.atNode(id);
  });
  await dead;
  await restartWriter({ proxy, stack, connection: ledger.connection });

  await ledger.settled(id);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  const sent = () =>
    sql`select kind, nonce::int as nonce, outcome from service.transaction where nonce >= ${gap} order by nonce`;
  // The dead writer did not see the filler's block: it is looked for again.
  await expect.poll(sent).toEqual([
    { kind: "filler", nonce: gap, outcome: "done" },
    { kind: "purchase", nonce: gap + 1, outcome: "done" },
  ]);
  expect(await chain.client.getTransactionCount({ address: chain.relayer.address })).toBe(gap + 2);
});
