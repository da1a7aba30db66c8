/**
 * The empty transfer that replaces a purchase after PURCHASE_TTL, and its fee. What this proves, checked on the chain: it
 * outbids a purchase that was signed at the fee cap; a purchase that was mined before it, and fell out of the chain, is
 * mined again and not replaced; with a permit both are replaced, the purchase first, and the permit is still good.
 */
import { type Hex, isHex, parseTransaction, toHex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing, type TestChain } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { allowanceOf } from "../support/permit.ts";
import { askRpc, type RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { buyWith, expectOnePolicy, newPermit, permitsTaken, sentFor } from "./support/permit-purchases.ts";
import { isSending } from "./support/testnet-faults.ts";
import { mineBlockAt } from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  const env = { MAX_FEE_GWEI: "40", PURCHASE_TTL: "600", CONFIRMATIONS: "2" };
  ({ chain, proxy, stack, ledger } = await startWriterSetup(env));
});
afterEach(async () => {
  proxy.intercept();
  await mineEverySecond(chain);
});

const isEmptyTransfer = (bytes: Hex) => parseTransaction(bytes).data === undefined;

/** Lets the time that these transactions may wait to be mined be over. */
const expire = (...intents: string[]) => ledger.connection.sql`
  update service.transaction set opened_at = opened_at - interval '1 hour' where intent = any(${intents}::uuid[])`;

test("a purchase was signed at the fee cap and is not mined in time: the empty transfer outbids it, and its key can buy again", async () => {
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
  const id = await ledger.buy(purchaseRequest(buyer.address), "replaced");
  await ledger.atNode(id);
  await expire(id);
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
  const replaced = await ledger.settled(id);
  expect(replaced).toMatchObject({ state: "replaced", code: "purchase_expired" });
  if (!("txHash" in replaced) || replaced.txHash === null) throw new Error("no hash");
  const receipt = await chain.client.getTransactionReceipt({ hash: replaced.txHash });
  expect([receipt.status, receipt.to?.toLowerCase()]).toEqual(["success", receipt.from.toLowerCase()]);
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
  // Nothing was bought and nothing can be any more: the key is free.
  const again = await ledger.buy(purchaseRequest(buyer.address), "replaced");
  expect(again).not.toBe(id);
  expect((await ledger.settled(again)).state).toMatch(/mined|confirmed/);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
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
  await ledger.atNode(id);
  await expire(id);
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

test("a permit and its purchase were signed at the fee cap and are not mined in time: both are replaced, and the permit buys later", async () => {
  const setup = { chain, ledger };
  const { sql } = ledger.connection;
  const signed = await newPermit(setup);
  const balance = () =>
    chain.client.readContract({
      ...{ address: chain.deployment.contracts.usdc, abi: mockUsdcAbi },
      ...{ functionName: "balanceOf", args: [signed.buyer.address] },
    });
  const before = await balance();
  await mineNothing(chain);
  await mineBlockAt(chain, sql, 30);
  const cancelled: number[] = [];
  proxy.intercept(async (call, forward) => {
    const [bytes] = call.params;
    if (isSending(call) && isHex(bytes) && isEmptyTransfer(bytes)) {
      const { nonce = 0 } = parseTransaction(bytes);
      if (!cancelled.includes(nonce)) cancelled.push(nonce);
    }
    return forward();
  });
  const bought = await buyWith(setup, signed);
  await ledger.atNode(bought.id);
  await expire(bought.id, bought.permitId);
  const rows = await sql<{ nonce: number }[]>`
    select nonce::int as nonce from service.transaction where intent in (${bought.id}, ${bought.permitId}) order by nonce`;
  const [permit, purchase] = rows.map(({ nonce }) => nonce);
  await expect.poll(() => cancelled).toEqual([purchase, permit]);
  await mineEverySecond(chain);

  expect((await ledger.settled(bought.id)).state).toBe("replaced");
  await expect.poll(() => sentFor(setup, bought)).toEqual(["permit replaced", "purchase replaced"]);
  expect(await policiesOnChain(chain, signed.buyer.address)).toEqual([]);
  expect(await allowanceOf(chain, signed.buyer.address)).toBe(0n);
  expect(await permitsTaken(chain, signed.buyer)).toBe(0n);
  expect(await balance()).toBe(before);
  expect(await sql`select 1 from service.buyer_revert`).toEqual([]);
  await expectOnePolicy(setup, await buyWith(setup, signed));
});
