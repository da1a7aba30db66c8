/**
 * What a client that replays its key is told while the chain changes its mind: on its way again after its block is gone,
 * then what became of the same bytes, be it that they reverted; never a receipt of a block that is not there.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { approveUsdc, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure, messageOf } from "../api/support/api.ts";
import { receiptOf } from "../api/support/buyer.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { policiesOnChain, signedForms, usdc } from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { startWorld, type World } from "./support/world.ts";

const DEPTH = 3;

let world: World;
beforeAll(async () => {
  world = await startWorld({ buyers: 2, env: { api: { PURCHASE_WAIT_MS: "2000" } } });
});

const settled = { timeout: 60_000, interval: 300 };

/** Buys under a key, takes the block away, and does `meanwhile` before the bytes reach the node again. */
async function buyAndLoseBlock(meanwhile: () => Promise<unknown>) {
  const { chain, proxy } = world;
  const [buyer] = world.buyers;
  if (!buyer) throw new Error("no buyer");
  const key = { "idempotency-key": randomUUID() };
  await chain.client.mine({ blocks: DEPTH }); // so that the approvals stand
  // From here no block comes by itself, so that the purchase stays in one of the newest.
  await mineOnlyTransactions(chain);
  const bought = await waitFor({
    what: "the receipt",
    probe: async () => {
      const answer = await buyer.buy({}, key);
      return answer.status === 503 ? undefined : answer;
    },
    timeoutMs: 60_000,
  });
  expect([200, 201], bought.text).toContain(bought.status);
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  expect(await askRpc(chain.url, "anvil_reorg", [DEPTH, []])).toEqual({ result: null });
  await meanwhile();
  await mineEverySecond(chain);
  const replay = () => buyer.buy({}, key);
  await expect.poll(async () => failure(await replay()), settled).toEqual([503, "purchase_pending"]);
  proxy.intercept();
  return { buyer, bought: receiptOf(bought), replay };
}

test("its number is somebody else's now: replays tell the new one", async () => {
  const [, rival] = world.buyers;
  const product = catalogueTerms.find(({ name }) => name === "FLASHBTC1H-001");
  if (!rival || !product) throw new Error("no rival");
  const { buyer, bought, replay } = await buyAndLoseBlock(() =>
    purchase(world.protocol, rival.account, product, usdc(100)),
  );
  await expect.poll(async () => (await replay()).status, settled).toBe(200);
  const after = receiptOf(await replay());
  expect(after.purchaseId).toBe(bought.purchaseId);
  // The same transaction: the same bytes, or those with a higher fee where it took long.
  const forms = await signedForms(world.connection, bought.purchaseId);
  expect(forms).toContain(bought.txHash);
  expect(forms).toContain(after.txHash);
  const [policy, ...others] = await policiesOnChain(world.chain, buyer.account.address);
  expect(others).toEqual([]);
  expect(policy?.transactionHash).toBe(after.txHash);
  expect(after.policyId).toBe(String(policy?.args.policyId));
  expect(after.policyId).not.toBe(bought.policyId);
});

test("its buyer has taken the allowance back: replays are 502 once the revert is final, and nothing was bought", async () => {
  const { buyer, replay } = await buyAndLoseBlock(async () => {
    const [owner] = world.buyers;
    if (!owner) throw new Error("no buyer");
    await approveUsdc(world.protocol, owner.account, world.chain.deployment.contracts.coverRouter, 0n);
  });
  const before = (await policiesOnChain(world.chain, buyer.account.address)).length;
  await expect.poll(async () => failure(await replay()), settled).toEqual([502, "onchain_revert"]);
  expect(messageOf(await replay())).toMatch(/reverted in block \d+: ERC20InsufficientAllowance\(/);
  expect(await policiesOnChain(world.chain, buyer.account.address)).toHaveLength(before);
});
