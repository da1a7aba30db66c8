/** A writer at rest asks its node for the head, and for little else: nodes are paid by the call. */
import { expect, test } from "vitest";
import { newBuyer, purchaseRequest } from "../support/ledger.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

const BLOCKS = 8n;

test("once a purchase is mined the head is read about once a block, and the wallet's count is not asked for again soon", async () => {
  const { chain, proxy, ledger } = await startWriterSetup({ CONFIRMATIONS: "1" });
  const buyer = await newBuyer(chain);
  // The first has what is asked for once.
  for (let n = 0; n < 2; n += 1)
    await ledger.inState(await ledger.buy(purchaseRequest(buyer.address)), "confirmed");
  const counted = () =>
    ["eth_getBlockByNumber", "eth_getTransactionCount"].map((method) => proxy.counts.get(method) ?? 0);
  const [from, before] = [await chain.client.getBlockNumber(), counted()];
  // Of real time: a block comes each second.
  await expect.poll(() => chain.client.getBlockNumber()).toBeGreaterThanOrEqual(from + BLOCKS);
  const [heads = 0, counts = 0] = counted().map((count, n) => count - (before[n] ?? 0));
  expect(heads).toBeGreaterThan(0);
  expect(heads).toBeLessThanOrEqual(2 * Number(BLOCKS));
  expect(counts).toBeLessThanOrEqual(2);
});
