/**
 * The empty transfer that replaces a purchase after PURCHASE_TTL, and its fee. What this proves, checked on the chain: it
 * outbids a purchase that was signed at the fee cap; a purchase that was mined before it, and fell out of the chain, is
 * mined again and not replaced.
 */
import { type Hex, isHex, parseTransaction, toHex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing, type TestChain } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { askRpc, type RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { mineBlockAt } from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  const env = { MAX_FEE_GWEI: "40", PURCHASE_TTL: "5", CONFIRMATIONS: "2" };
  ({ chain, proxy, stack, ledger } = await startWriterSetup(env));
});
afterEach(async () => {
  proxy.intercept();
  await mineEverySecond(chain);
});

const isEmptyTransfer = (bytes: Hex) => parseTransaction(bytes).data === undefined;

test("a purchase was signed at the fee cap and is not mined in time: the empty transfer outbids it", async () => {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 30);
  let hasEmptyTransfer = false;
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    const [bytes] = call.params;
    if (call.method === "eth_sendRawTransaction" && isHex(bytes) && isEmptyTransfer(bytes))
      hasEmptyTransfer ||= "result" in answer;
    return answer;
  });
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await waitFor({
    what: "the writer to cancel the purchase",
    probe: () => /cancelling a purchase|cannot be cancelled/.test(stack.output("writer")) || undefined,
  });
  // The broadcast of the empty transfer follows its log line.
  await waitFor({
    what: "the node to have one transaction of the relayer, the empty one",
    probe: () => hasEmptyTransfer || /cannot be cancelled/.test(stack.output("writer")) || undefined,
  });
  await mineEverySecond(chain);
  expect((await ledger.settled(id)).state).toBe("replaced");
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
});

test("a purchase is mined although its cancellation was sent, and its block falls out of the chain: it is bought, not replaced", async () => {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 1);
  let cancelling: Hex | undefined;
  proxy.intercept(async (call, forward) => {
    const [bytes] = call.params;
    if (call.method !== "eth_sendRawTransaction" || !isHex(bytes) || !isEmptyTransfer(bytes))
      return forward();
    // It is in another node's pool; this node mines the purchase.
    cancelling ??= bytes;
    return { result: toHex(0, { size: 32 }) };
  });
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await waitFor({ what: "the empty transfer to be sent", probe: () => cancelling });
  await chain.client.mine({ blocks: 1 });
  const before = await ledger.inState(id, "mined");
  if (!("receipt" in before)) throw new Error("no receipt");
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  expect(await askRpc(chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
  await ledger.inState(id, "broadcast");
  // The other node's pool still has the empty transfer, and the nonce is free again.
  await askRpc(chain.url, "eth_sendRawTransaction", [cancelling]);
  let sent = 0;
  proxy.intercept(async (call, forward) => {
    const answer = await forward();
    if (call.method === "eth_sendRawTransaction" && "result" in answer) sent += 1;
    return answer;
  });
  await waitFor({
    what: "the writer to send a form that the node accepts",
    probe: () => sent > 0 || undefined,
  });
  await mineEverySecond(chain);
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});
