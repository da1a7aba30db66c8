/**
 * Reorganisations that take a policy's breach away, or bring one. What this proves, from the chain: nothing is sent for a breach
 * that is gone; what was sent observes nothing then, and the others in its transaction all the same; a breach that comes with a
 * reorganisation is paid.
 */
import { type Address, encodeFunctionData, type Hex } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { mockPriceFeedAbi } from "../../abis/MockPriceFeed.ts";
import { OBSERVATION_INTERVAL } from "../../lib/price-rules.ts";
import { mineEverySecond, mineOnlyTransactions } from "../support/chain.ts";
import { halvePrice, observationsOf, passDwell } from "../support/falls.ts";
import * as act from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { holdCalls } from "./support/hold-calls.ts";
import {
  btc1h,
  buyPolicies,
  keeperNonce,
  owner,
  prepareBuyer,
  untilPaid,
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
 * A low round, after which no block comes without a transaction: the index follows a reorganisation of thirty blocks at most, and a
 * busy machine would need longer than thirty seconds to come to it.
 * @returns the number of the round's block.
 */
async function crashInLastBlock(): Promise<bigint> {
  await passDwell(setup.protocol);
  await mineOnlyTransactions(setup.chain);
  await setup.chain.client.mine({ blocks: 1 });
  return halvePrice(setup.protocol, owner, "BTC");
}

const observationsOfAll = (ids: readonly bigint[]) =>
  Promise.all(ids.map((id) => observationsOf(setup.protocol, btc1h, id)));
const untilObserved = (ids: readonly bigint[]) =>
  expect.poll(() => observationsOfAll(ids)).toEqual(ids.map(() => 1));

test("the breach is gone before its trigger is sent: nothing is sent, and a new breach is paid", async () => {
  const due = await buyPolicies(setup, 2);
  const { reached, release } = holdCalls(setup.proxy, ({ method }) => method === "eth_simulateV1");
  const low = await crashInLastBlock();
  await reached();
  await expectNothingSent(setup, async () => {
    await replaceFrom(low);
    await untilIndexed(setup);
    release();
  });
  await halvePrice(setup.protocol, owner, "BTC");
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
});

test("the breach is gone when its transaction is mined: its policy has no observation, and the others in it have theirs", async () => {
  const { chain, connection, protocol } = setup;
  const { price } = await act.latestRound(protocol, "BTC");
  const push = (percent: bigint) => act.pushPrice(protocol, owner, "BTC", (price * percent) / 100n);
  const kept = await buyPolicies(setup, 2);
  await push(98n);
  const gone = await buyPolicies(setup, 2);
  // All are due when the keeper looks again, so that it puts them into one transaction.
  await connection.sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await passDwell(protocol);
  await push(96n);
  await mineOnlyTransactions(chain);
  await chain.client.mine({ blocks: 1 });
  const { blockNumber: low } = await push(95n);
  await untilIndexed(setup);
  const { reached, release } = holdCalls(setup.proxy, isSending);
  const before = await keeperNonce(chain, keeperWallet.address);
  await connection.sql`delete from service.stop`;
  await reached();
  await replaceFrom(low);
  await untilIndexed(setup);
  release();
  await untilObserved(kept);
  expect(await observationsOfAll(gone)).toEqual([0, 0]);
  expect(await keeperNonce(chain, keeperWallet.address)).toBe(before + 1);
  await expectNothingSent(setup, async () => {});
  await act.timeTravel(protocol, BigInt(OBSERVATION_INTERVAL));
  await push(95n);
  await untilPaid(setup, [...kept, ...gone]);
  await expectTriggeredOnce(setup, [...kept, ...gone]);
  expect(await failuresOf(setup, [...kept, ...gone])).toEqual([]);
});

test("a reorganisation drops the breach with the mined observation: sent again it does not observe, and a new breach is paid", async () => {
  const { chain, protocol } = setup;
  const due = await buyPolicies(setup, 2);
  const low = await crashInLastBlock();
  await untilObserved(due);
  const mined = await keeperNonce(chain, keeperWallet.address);
  await replaceFrom(low);
  await expect.poll(() => keeperNonce(chain, keeperWallet.address)).toBe(mined);
  await expectNothingSent(setup, async () => {});
  expect(await observationsOfAll(due)).toEqual([0, 0]);
  await halvePrice(protocol, owner, "BTC");
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  expect(await failuresOf(setup, due)).toEqual([]);
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
  await passDwell(protocol);
  const { price } = await act.latestRound(protocol, "BTC");
  await setup.chain.client.mine({ blocks: 2 });
  const push = await signedPush(act.feedOf(protocol, "BTC"), price / 2n);
  await replaceFrom(await setup.chain.client.getBlockNumber(), [push]);
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
});
