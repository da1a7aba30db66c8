/**
 * A purchase with a permit that is not mined in time. What this proves, checked on the chain: both are replaced by empty
 * transfers, the purchase first, the buyer has paid nothing, and its permit is still good.
 */
import { type Hex, isHex, parseTransaction } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { allowanceOf } from "../support/permit.ts";
import { buyWith, expectOnePolicy, newPermit, permitsTaken, sentFor } from "./support/permit-purchases.ts";
import { isSending } from "./support/testnet-faults.ts";
import { mineBlockAt } from "./support/waits.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup({ MAX_FEE_GWEI: "40", PURCHASE_TTL: "5", CONFIRMATIONS: "2" });
});
afterEach(async () => {
  setup.proxy.intercept();
  await mineEverySecond(setup.chain);
});

const isEmptyTransfer = (bytes: Hex) => parseTransaction(bytes).data === undefined;

test("both were signed at the fee cap and are not mined in time: both are replaced, and the permit buys later", async () => {
  const { chain, ledger, proxy } = setup;
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
  expect(await sql`select 1 from service.strike`).toEqual([]);
  await expectOnePolicy(setup, await buyWith(setup, signed));
});
