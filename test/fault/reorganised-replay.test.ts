/**
 * Replays of an idempotency key during a reorganisation. What this proves: they answer 503 once the purchase's block is
 * gone, then the new receipt or the revert of the same transaction, and never a receipt of a block that is gone.
 */
import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { approveUsdc, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure, messageOf } from "../api/support/api.ts";
import { receiptOf } from "../api/support/buyer.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { policiesOnChain, signedForms, usdc } from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

const DEPTH = 3;

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 2, env: { api: { PURCHASE_WAIT_MS: "2000" } } });
});

const settled = { interval: 300 };

/** Buys, removes the purchase's block, and runs `beforeRebroadcast` before the node gets the transaction again. */
async function buyAndLoseBlock(beforeRebroadcast: () => Promise<unknown>) {
  const { chain, proxy } = setup;
  const [buyer] = setup.buyers;
  if (!buyer) throw new Error("no buyer");
  const key = { "idempotency-key": randomUUID() };
  await chain.client.mine({ blocks: DEPTH }); // keeps the approvals out of the reorganisation
  // No empty blocks from here on, so that the purchase stays in one of the newest.
  await mineOnlyTransactions(chain);
  const bought = await waitFor({
    what: "the receipt",
    probe: async () => {
      const answer = await buyer.buy({}, key);
      return answer.status === 503 ? undefined : answer;
    },
  });
  expect([200, 201], bought.text).toContain(bought.status);
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  expect(await askRpc(chain.url, "anvil_reorg", [DEPTH, []])).toEqual({ result: null });
  await beforeRebroadcast();
  await mineEverySecond(chain);
  const replay = () => buyer.buy({}, key);
  await expect.poll(async () => failure(await replay()), settled).toEqual([503, "purchase_pending"]);
  proxy.intercept();
  return { buyer, bought: receiptOf(bought), replay };
}

test("a reorganisation gives the policy number to another purchase: replays answer the new number", async () => {
  const [, rival] = setup.buyers;
  const product = catalogueTerms.find(({ name }) => name === "FLASHBTC1H-001");
  if (!rival || !product) throw new Error("no rival");
  const { buyer, bought, replay } = await buyAndLoseBlock(() =>
    purchase(setup.protocol, rival.account, product, usdc(100)),
  );
  await expect.poll(async () => (await replay()).status, settled).toBe(200);
  const after = receiptOf(await replay());
  expect(after.purchaseId).toBe(bought.purchaseId);
  // The same transaction, perhaps with a higher fee.
  const forms = await signedForms(setup.connection, bought.purchaseId);
  expect(forms).toContain(bought.txHash);
  expect(forms).toContain(after.txHash);
  const [policy, ...others] = await policiesOnChain(setup.chain, buyer.account.address);
  expect(others).toEqual([]);
  expect(policy?.transactionHash).toBe(after.txHash);
  expect(after.blockNumber).toBe(Number(policy?.blockNumber));
  expect(after.policyId).toBe(String(policy?.args.policyId));
  expect(after.policyId).toBe(String(BigInt(bought.policyId) + 1n));
});

test("the buyer revokes the allowance meanwhile: replays answer 502 once the revert is final, nothing is bought", async () => {
  const { buyer, bought, replay } = await buyAndLoseBlock(async () => {
    const [owner] = setup.buyers;
    if (!owner) throw new Error("no buyer");
    await approveUsdc(setup.protocol, owner.account, setup.chain.deployment.contracts.coverRouter, 0n);
  });
  const before = (await policiesOnChain(setup.chain, buyer.account.address)).length;
  await expect.poll(async () => failure(await replay()), settled).toEqual([502, "onchain_revert"]);
  expect(messageOf(await replay())).toMatch(/reverted in block \d+: ERC20InsufficientAllowance\(/);
  const [failed] = await setup.connection.sql<{ hash: Hex }[]>`
    select tx_hash as hash from service.purchase_progress where id = ${bought.purchaseId}`;
  const receipt = await setup.chain.client.getTransactionReceipt({ hash: failed?.hash ?? "0x" });
  expect(receipt.status).toBe("reverted");
  expect(await policiesOnChain(setup.chain, buyer.account.address)).toHaveLength(before);
});
