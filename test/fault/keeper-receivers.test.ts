/**
 * Contracts that bought policies and refuse their bonds, and strangers who trigger first. What this proves, from the chain: neither
 * holds up the other policies; a refusing contract's policy is set aside with the operator told, and triggered once the contract
 * accepts; a stranger's trigger is a success.
 */
import { getAddress, parseGwei } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { triggerCalldata } from "../../lib/chain/trigger.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { type BondReceiver, deployReceiver } from "./support/bond-receiver.ts";
import { holdCalls } from "./support/hold-calls.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  owner,
  prepareBuyer,
  stateOf,
  untilAll,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectNothingSignedTwice,
  expectTriggeredOnce,
  failuresOf,
  triggersOf,
  untilKeeperHasSeen,
} from "./support/keeper-truth.ts";
import { isSending } from "./support/testnet-faults.ts";

const stranger = anvilAccount(8);
/** So many failures in a row set work aside. */
const SET_ASIDE_AFTER = 5;

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});
beforeEach(() => act.refreshFeeds(setup.protocol, owner));

/** Ends the waits of these policies one after the other until all have failed so often. */
const failUntil = (ids: readonly bigint[], failures: number) =>
  waitFor({
    what: `${ids.length} policies to have failed ${failures} times`,
    probe: async () => {
      await setup.connection
        .sql`update service.keeper_task set retry_at = now() where failures between 1 and ${failures - 1}`;
      const failed = await failuresOf(setup, ids);
      return (failed.length === ids.length && failed.every((one) => one.failures >= failures)) || undefined;
    },
    timeoutMs: 240_000,
  });

test("contracts that refuse bonds, or burn all gas, always or in blocks alone: the others are paid, they are set aside, and paid once they accept", async () => {
  const { connection, stack } = setup;
  const receivers: BondReceiver[] = [
    await deployReceiver(setup, "reverts"),
    await deployReceiver(setup, "burns all gas"),
    await deployReceiver(setup, "burns all gas in blocks alone"),
  ];
  const refusing: bigint[] = [];
  // They expire first, so that the keeper looks at them first.
  for (const receiver of receivers) refusing.push(await receiver.buy(btc1h));
  const able = await buyPolicies(setup, 5);
  await crash(setup);
  await untilAll(setup, "triggered", able);
  await expectTriggeredOnce(setup, able);
  // None of them shared a transaction, and its gas, with such a contract.
  expect(await failuresOf(setup, able)).toEqual([]);
  await failUntil(refusing, SET_ASIDE_AFTER);
  expect((await failuresOf(setup, refusing)).map(({ failure }) => failure)).toEqual([
    expect.stringContaining("No bonds, please"),
    // What remains of the gas is enough for the bond contract to say that its receiver refused.
    expect.stringContaining("ERC1155InvalidReceiver"),
    expect.stringContaining("reverted in block"),
  ]);
  const told = () =>
    stack
      .output("writer")
      .split("\n")
      .filter((line) => line.includes("has set work aside"))
      .flatMap((line) => refusing.filter((id) => line.includes(`/${id}"`)))
      .sort((one, other) => Number(one - other));
  // The keeper writes the failure down before it tells of it.
  await expect.poll(told).toEqual(refusing);
  // The next crash does not wait for them.
  const next = await buyPolicies(setup, 2);
  await crash(setup);
  await untilAll(setup, "triggered", next);
  expect(await Promise.all(refusing.map((id) => stateOf(setup, id)))).toEqual(refusing.map(() => "open"));

  for (const receiver of receivers) await receiver.setMood("accepts");
  await connection.sql`update service.keeper_task set retry_at = now()`;
  await untilAll(setup, "triggered", refusing);
  await expectTriggeredOnce(setup, refusing);
  expect(told()).toEqual(refusing);
});

/** The ids of the newest three rounds. */
async function newest(): Promise<[bigint, bigint, bigint]> {
  const { roundId } = await act.latestRound(setup.protocol, "BTC");
  return [roundId - 2n, roundId - 1n, roundId];
}

const triggerAsStranger = async (policyId: bigint) =>
  act.submitTrigger(setup.protocol, stranger, btc1h, policyId, act.oracleProof(await newest()));

/** All are triggered once; those of the list by the stranger. The keeper counts no failure and tells of none. */
async function expectNoFailure(due: readonly bigint[], byStranger: readonly bigint[]): Promise<void> {
  await untilAll(setup, "triggered", due);
  await expectTriggeredOnce(setup, due);
  await untilKeeperHasSeen(setup);
  expect(await failuresOf(setup, due)).toEqual([]);
  await expectNothingSignedTwice(setup, due);
  const logs = (await triggersOf(setup)).filter(({ args }) => byStranger.includes(args.policyId));
  for (const { transactionHash } of logs) {
    const { from } = await setup.protocol.client.getTransactionReceipt({ hash: transactionHash });
    expect(getAddress(from)).toBe(stranger.address);
  }
}

const moments = [
  { moment: "before the keeper simulates", matches: "eth_simulateV1" },
  { moment: "after the keeper has recorded a batch", matches: "eth_estimateGas" },
];

test.each(moments)(
  "a stranger triggers a policy $moment: no failure, and the others are triggered",
  async ({ matches }) => {
    const due = await buyPolicies(setup, 3);
    const { reached, release } = holdCalls(setup.proxy, ({ method }) => method === matches);
    await crash(setup);
    await reached();
    await triggerAsStranger(due[1] ?? 0n);
    release();
    await expectNoFailure(due, due.slice(1, 2));
  },
);

test("a stranger's trigger is mined in the same block before the keeper's: no failure, and the others are triggered", async () => {
  const { chain, protocol, proxy } = setup;
  const due = await buyPolicies(setup, 3);
  const { reached, release } = holdCalls(proxy, isSending);
  await crash(setup);
  await reached();
  await mineNothing(chain);
  const before = await chain.client.getBlockNumber();
  const newestRounds = await newest();
  const hash = await chain.client.sendTransaction({
    account: stranger,
    to: protocol.deployment.contracts.coverRouter,
    data: triggerCalldata({ productId: btc1h.productId, policyId: due[1] ?? 0n }, newestRounds),
    gas: 1_000_000n,
    maxFeePerGas: parseGwei("100"),
    maxPriorityFeePerGas: parseGwei("50"),
  });
  release();
  await waitFor({
    what: "both transactions to be in the node's pool",
    probe: async () => {
      const { pending } = await chain.client.getTxpoolStatus();
      return pending >= 2 || undefined;
    },
  });
  await chain.client.mine({ blocks: 1 });
  const { blockNumber } = await chain.client.waitForTransactionReceipt({ hash });
  expect(blockNumber).toBe(before + 1n);
  expect((await chain.client.getBlock({ blockNumber })).transactions).toHaveLength(2);
  await mineEverySecond(chain);
  await expectNoFailure(due, due.slice(1, 2));
});
