/**
 * Reorganisations that take a policy's breach away, or bring one. What this proves, from the chain: no trigger is sent for a breach
 * that is gone; one that was sent changes nothing, for its policy and for the others in its transaction; a breach that comes
 * with a reorganisation is paid.
 */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { holdCalls } from "./support/hold-calls.ts";
import {
  buyPolicies,
  crash,
  eth24,
  keeperNonce,
  owner,
  prepareBuyer,
  pushLow,
  stateOf,
  untilAll,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";
import { expectNothingSent, expectTriggeredOnce, failuresOf, untilIndexed } from "./support/keeper-truth.ts";
import { isSending } from "./support/testnet-faults.ts";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});
beforeEach(() => act.refreshFeeds(setup.protocol, owner));

/** Replaces the blocks from this one on by as many others, the first of them with these transactions. */
async function replaceFrom(block: bigint, transactions: readonly Hex[] = []): Promise<void> {
  const { chain } = setup;
  await mineOnlyTransactions(chain);
  const depth = Number((await chain.client.getBlockNumber()) - block) + 1;
  const pairs = transactions.map((one) => [one, 0]);
  expect(await askRpc(chain.url, "anvil_reorg", [depth, pairs])).toEqual({ result: null });
  await mineEverySecond(chain);
  await chain.client.mine({ blocks: 1 });
}

/**
 * Two low rounds, and a third in a later block, after which no block comes without a transaction: the index follows a
 * reorganisation of thirty blocks at most, and a busy machine would need longer than thirty seconds to come to it.
 * @returns the number of the third round's block.
 */
async function crashInTwoParts(feed: "BTC" | "ETH" = "BTC"): Promise<bigint> {
  await crash(setup, feed, 2);
  await mineOnlyTransactions(setup.chain);
  await setup.chain.client.mine({ blocks: 1 });
  return pushLow(setup, feed);
}

/** Waits until all are triggered. What has failed, because its transaction changed nothing, does not wait. */
const untilTriggeredWithoutRest = (ids: readonly bigint[]) =>
  waitFor({
    what: `${ids.length} policies to be triggered`,
    probe: async () => {
      await setup.connection.sql`update service.keeper_task set retry_at = now() where retry_at > now()`;
      const states = await Promise.all(ids.map((id) => stateOf(setup, id)));
      return states.every((state) => state === "triggered") || undefined;
    },
    intervalMs: 250,
  });

test("the breach is gone before its trigger is sent: nothing is sent, and a new breach is paid", async () => {
  const due = await buyPolicies(setup, 2);
  const { reached, release } = holdCalls(setup.proxy, ({ method }) => method === "eth_simulateV1");
  const third = await crashInTwoParts();
  await reached();
  await expectNothingSent(setup, async () => {
    await replaceFrom(third);
    await untilIndexed(setup);
    release();
  });
  await pushLow(setup, "BTC");
  await untilAll(setup, "triggered", due);
  await expectTriggeredOnce(setup, due);
});

test("the breach is gone when its transaction is mined: it does nothing to its policy, and triggers the others with it", async () => {
  const { chain, connection } = setup;
  const [kept, gone] = [await buyPolicies(setup, 2, eth24), await buyPolicies(setup, 2)];
  // Both are due when the keeper looks again, so that it puts them into one transaction.
  await connection.sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await crash(setup, "ETH");
  const third = await crashInTwoParts();
  await untilIndexed(setup);
  const { reached, release } = holdCalls(setup.proxy, isSending);
  const before = await keeperNonce(chain, keeperWallet.address);
  await connection.sql`delete from service.stop`;
  await reached();
  await replaceFrom(third);
  await untilIndexed(setup);
  release();
  await untilAll(setup, "triggered", kept, eth24);
  await expectTriggeredOnce(setup, kept, eth24);
  expect(await keeperNonce(chain, keeperWallet.address)).toBe(before + 1);
  await expectNothingSent(setup, async () => {});
  expect(await Promise.all(gone.map((id) => stateOf(setup, id)))).toEqual(["open", "open"]);
  expect(await failuresOf(setup, kept, eth24)).toEqual([]);
  expect(await failuresOf(setup, gone)).toEqual([]);
  await pushLow(setup, "BTC");
  await untilTriggeredWithoutRest(gone);
  await expectTriggeredOnce(setup, gone);
});

test("a reorganisation drops the breach with the mined trigger: sent again it reverts, and a new breach is paid", async () => {
  const { chain } = setup;
  const due = await buyPolicies(setup, 2);
  const third = await crashInTwoParts();
  await untilAll(setup, "triggered", due);
  const mined = await keeperNonce(chain, keeperWallet.address);
  await replaceFrom(third);
  await expect.poll(() => keeperNonce(chain, keeperWallet.address)).toBe(mined);
  await expectNothingSent(setup, async () => {});
  expect(await Promise.all(due.map((id) => stateOf(setup, id)))).toEqual(["open", "open"]);
  await pushLow(setup, "BTC");
  await untilTriggeredWithoutRest(due);
  await expectTriggeredOnce(setup, due);
});

/** A signed push of a price, which is not sent. */
async function signedPush(to: Address, price: bigint): Promise<Hex> {
  const { client, deployment } = setup.protocol;
  const [nonce, { baseFeePerGas }] = await Promise.all([
    client.getTransactionCount({ address: owner.address }),
    client.getBlock(),
  ]);
  return owner.signTransaction({
    ...{ type: "eip1559", chainId: deployment.chainId, nonce, to, gas: 300_000n },
    data: encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "push", args: [price] }),
    maxFeePerGas: (baseFeePerGas ?? 0n) * 2n + 1_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
  });
}

test("a reorganisation brings a breach: triggered", async () => {
  const { protocol } = setup;
  const due = await buyPolicies(setup, 2);
  await crash(setup, "BTC", 2);
  const { price } = await act.latestRound(protocol, "BTC");
  await setup.chain.client.mine({ blocks: 2 });
  const push = await signedPush(act.feedOf(protocol, "BTC"), price);
  await replaceFrom(await setup.chain.client.getBlockNumber(), [push]);
  await untilAll(setup, "triggered", due);
  await expectTriggeredOnce(setup, due);
});
