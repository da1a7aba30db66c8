/**
 * Purchases that revert in the middle of a block, while the same calls would succeed before it and after it. What this proves:
 * it counts as the buyer's making where USDC shows that the buyer took its funds or allowance away for that time, three of
 * them pause its purchases, and nothing else counts.
 */
import { randomUUID } from "node:crypto";
import {
  type Address,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  type LocalAccount,
  maxUint256,
  parseGwei,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import type { Buyer } from "../api/support/buyer.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

const COUNT = 3;
/** Of a buyer's default purchase, 6 decimals. */
const PREMIUM = 292_000n;
const REVERTED = [502, "onchain_revert"];

let setup: PurchaseSetup;
beforeAll(async () => {
  setup = await startPurchaseSetup({ buyers: 4 });
});

type Sent = { account: LocalAccount; to: Address; data: Hex };

const buyerAt = (n: number): Buyer => {
  const buyer = setup.buyers[n];
  if (!buyer) throw new Error(`no buyer ${n}`);
  return buyer;
};
const approve = ({ account }: Buyer, amount: bigint): Sent => {
  const { usdc, coverRouter } = setup.chain.deployment.contracts;
  const args = [coverRouter, amount] as const;
  return { account, to: usdc, data: encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }) };
};
const pay = (account: LocalAccount, receiver: LocalAccount, amount: bigint): Sent => {
  const args = [receiver.address, amount] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  return { account, to: setup.chain.deployment.contracts.usdc, data };
};
const pause = (paused: boolean): Sent => {
  const data = encodeFunctionData({ abi: coverRouterAbi, functionName: "setPaused", args: [paused] });
  return { account: setup.chain.owner, to: setup.chain.deployment.contracts.coverRouter, data };
};
const buyerRevertsOf = async ({ account }: Buyer) => {
  const wallet = account.address.toLowerCase();
  return (await setup.connection.sql`select 1 from service.buyer_revert where wallet = ${wallet}`).length;
};
const newKeys = () => Array.from({ length: COUNT }, () => ({ "idempotency-key": randomUUID() }));

/** Three purchases in one block, after `first` and before `last`. @returns their answers. */
async function buyBetween(buyer: Buyer, first: readonly Sent[], last: readonly Sent[], keys = newKeys()) {
  const { client } = setup.chain;
  await mineNothing(setup.chain);
  const answers = Promise.all(keys.map((key) => buyer.buy({}, key)));
  await waitFor({
    what: "three transactions in the node's pool",
    probe: async () => (await client.getTxpoolStatus()).pending === COUNT || undefined,
  });
  const send = (sent: Sent, fees: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }) =>
    client.sendTransaction({ ...sent, ...fees, gas: 200_000n, chain: null });
  // A block has the transactions that pay more first.
  const most = { maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: parseGwei("50") };
  for (const sent of first) await send(sent, most);
  const { baseFeePerGas } = await client.getBlock();
  const least = { maxFeePerGas: (baseFeePerGas ?? 0n) + 1n, maxPriorityFeePerGas: 1n };
  for (const sent of last) await send(sent, least);
  await mineEverySecond(setup.chain);
  return answers;
}

test("the buyer revokes its allowance for the block: each purchase counts, and the third pauses its purchases", async () => {
  const buyer = buyerAt(0);
  const keys = newKeys();
  const answers = await buyBetween(buyer, [approve(buyer, 0n)], [approve(buyer, maxUint256)], keys);
  expect(answers.map(failure)).toEqual(keys.map(() => REVERTED));
  expect(await buyerRevertsOf(buyer)).toBe(COUNT);
  expect(failure(await buyer.buy())).toEqual([429, "purchases_paused"]);
  // As after any other revert for the buyer's funds, a key is not free.
  expect(failure(await buyer.buy({}, keys[0]))).toEqual(REVERTED);
  expect(await policiesOnChain(setup.chain, buyer.account.address)).toEqual([]);
});

test("the buyer's USDC is elsewhere for the block: each purchase counts", async () => {
  const { chain } = setup;
  const buyer = buyerAt(1);
  const all = await chain.client.readContract({
    ...{ address: chain.deployment.contracts.usdc, abi: erc20Abi },
    ...{ functionName: "balanceOf", args: [buyer.account.address] },
  });
  const away = pay(buyer.account, chain.owner, all);
  const answers = await buyBetween(buyer, [away], [pay(chain.owner, buyer.account, all)]);
  expect(answers.map(failure)).toEqual(answers.map(() => REVERTED));
  expect(await buyerRevertsOf(buyer)).toBe(COUNT);
});

test("the allowance suffices for one purchase of the block: the others count", async () => {
  const buyer = buyerAt(2);
  const answers = await buyBetween(buyer, [approve(buyer, PREMIUM)], [approve(buyer, maxUint256)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 502, 502]);
  expect(await buyerRevertsOf(buyer)).toBe(2);
});

test("a pause begins and ends in the block, in which the buyer sets an allowance that suffices: none counts, and the keys buy", async () => {
  const { chain } = setup;
  const buyer = buyerAt(3);
  const keys = newKeys();
  const first = [pause(true), approve(buyer, PREMIUM * BigInt(COUNT))];
  const answers = await buyBetween(buyer, first, [pause(false)], keys);
  expect(answers.map(failure)).toEqual(keys.map(() => REVERTED));
  expect(await buyerRevertsOf(buyer)).toBe(0);
  const repeated = await Promise.all(keys.map((key) => buyer.buy({}, key)));
  expect(repeated.map(({ status }) => status)).toEqual(keys.map(() => 201));
  expect(await policiesOnChain(chain, buyer.account.address)).toHaveLength(COUNT);
});
