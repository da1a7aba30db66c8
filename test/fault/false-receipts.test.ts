/**
 * A node with a broken replica returns a wrong receipt for a mined purchase. Checks on the chain that each key buys one policy, and
 * that the API's last answer is that policy.
 */
import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Buyer } from "../api/support/buyer.ts";
import { policiesOnChain } from "../support/ledger.ts";
import type { RpcAnswer, RpcCall } from "../support/rpc-proxy.ts";
import { type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

let setup: PurchaseSetup;
let buyers: Buyer[];
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 6 });
  buyers = [...setup.buyers];
});
afterEach(() => setup.proxy.intercept());

type Lie = Readonly<Record<string, unknown>>;
const lies: readonly (readonly [what: string, lie: Lie])[] = [
  ["that it reverted", { status: "0x0", logs: [] }],
  ["no event of it", { logs: [] }],
];

/** Of the writer. */
const CONFIRMATIONS = 3n;

const receiptShape = z.looseObject({ transactionHash: z.string(), blockNumber: z.string() });
/** The receipts in an answer, each given to `change`. */
function changeReceipts(
  { method }: RpcCall,
  answer: RpcAnswer,
  change: (receipt: z.output<typeof receiptShape>) => unknown,
): RpcAnswer {
  if (!("result" in answer)) return answer;
  if (method === "eth_getTransactionReceipt") {
    const one = receiptShape.safeParse(answer.result);
    return one.success ? { result: change(one.data) } : answer;
  }
  if (method !== "eth_getBlockReceipts") return answer;
  return { result: z.array(receiptShape).parse(answer.result).map(change) };
}

/** The node returns `times` wrong receipts for each transaction, and no logs. @returns the number of wrong receipts by hash */
function lieOf(lie: Lie, times: number): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  setup.proxy.intercept(async (call, forward) => {
    if (call.method === "eth_getLogs") return { result: [] };
    return changeReceipts(call, await forward(), (receipt) => {
      const before = told.get(receipt.transactionHash) ?? 0;
      if (before >= times) return receipt;
      told.set(receipt.transactionHash, before + 1);
      return { ...receipt, ...lie };
    });
  });
  return told;
}

/** Waits until the ledger regards the only purchase of a buyer as final. */
const untilFinal = ({ account }: Buyer) =>
  expect
    .poll(async () => {
      const wallet = account.address.toLowerCase();
      const rows = await setup.connection.sql<{ state: string }[]>`
        select state from service.transaction where client = ${wallet}`;
      return rows.map(({ state }) => state);
    })
    .toEqual(["final"]);

async function expectOnePolicy(buyer: Buyer, key: string): Promise<void> {
  await untilFinal(buyer);
  const repeated = await buyer.buy({}, { "idempotency-key": key });
  expect([200, 201]).toContain(repeated.status);
  const bought = await policiesOnChain(setup.chain, buyer.account.address);
  expect(bought).toHaveLength(1);
  expect(repeated.json).toMatchObject({ policyId: String(bought[0]?.args.policyId) });
  const wallet = buyer.account.address.toLowerCase();
  expect(await setup.connection.sql`select 1 from service.buyer_revert where wallet = ${wallet}`).toEqual([]);
}

const nextBuyer = (): Buyer => {
  const buyer = buyers.pop();
  if (!buyer) throw new Error("no buyer is left");
  return buyer;
};

describe.each(lies)("a receipt that tells %s", (_what, lie) => {
  test("once: the client gets its policy", async () => {
    const [buyer, key] = [nextBuyer(), randomUUID()];
    const told = lieOf(lie, 1);
    const { status } = await buyer.buy({}, { "idempotency-key": key });
    expect(status).toBe(201);
    expect(told.size).toBe(1);
    await expectOnePolicy(buyer, key);
  });

  test("until the block is deep enough: the client gets its policy and no failure", async () => {
    const [buyer, key] = [nextBuyer(), randomUUID()];
    const { client } = setup.chain;
    setup.proxy.intercept(async (call, forward) => {
      if (call.method === "eth_getLogs") return { result: [] };
      const head = await client.getBlockNumber();
      return changeReceipts(call, await forward(), (receipt) => {
        const depth = head - BigInt(receipt.blockNumber);
        return depth < CONFIRMATIONS ? { ...receipt, ...lie } : receipt;
      });
    });
    const { status } = await buyer.buy({}, { "idempotency-key": key });
    expect(status).toBe(201);
    await expectOnePolicy(buyer, key);
  });

  test("once, at the depth at which its outcome becomes final: it stays bought", async () => {
    const [buyer, key] = [nextBuyer(), randomUUID()];
    const { status, json } = await buyer.buy({}, { "idempotency-key": key });
    expect(status).toBe(201);
    const { txHash } = z.object({ txHash: z.custom<Hex>((value) => typeof value === "string") }).parse(json);
    const told = lieOf(lie, 1);
    await expectOnePolicy(buyer, key);
    expect([...told.keys()]).toContain(txHash);
  });
});
