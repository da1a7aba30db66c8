/**
 * Contracts that bought policies and refuse their bonds, and strangers who trigger first. What this proves, from the chain: neither
 * holds up the other policies; a refusing contract's policy is set aside with the operator told, and triggered once the contract
 * accepts; a stranger's trigger is a success.
 */
import { parseEventLogs, parseGwei, type TransactionReceipt } from "viem";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import { upkeepCalldata, upkeepGas } from "../../lib/chain/trigger.ts";
import { lower } from "../../lib/lower.ts";
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
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectNothingSignedTwice,
  expectTriggeredOnce,
  failuresOf,
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
  await untilPaid(setup, able);
  await expectTriggeredOnce(setup, able);
  // None of them shared a transaction, and its gas, with such a contract.
  expect(await failuresOf(setup, able)).toEqual([]);
  await failUntil(refusing, SET_ASIDE_AFTER);
  expect((await failuresOf(setup, refusing)).map(({ failure }) => failure)).toEqual([
    expect.stringContaining("No bonds, please"),
    // What remains of the gas may be enough for the bond contract to say that its receiver refused.
    expect.stringMatching(/ERC1155InvalidReceiver|more than 460000 gas/),
    expect.stringContaining("failed in block"),
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
  await untilPaid(setup, next);
  expect(await Promise.all(refusing.map((id) => stateOf(setup, id)))).toEqual(refusing.map(() => "open"));

  for (const receiver of receivers) await receiver.setMood("accepts");
  // Two payouts in blocks have failed by the third one's code: it is left to its owner for a day.
  const aged = await connection.sql`
    update service.receiver_failure set failed_at = failed_at - interval '1 day' returning receiver`;
  expect(aged.map(({ receiver }) => receiver)).toEqual(Array(2).fill(lower(receivers[2]?.address ?? "0x")));
  await connection.sql`update service.keeper_task set retry_at = now()`;
  await untilAll(setup, "triggered", refusing);
  await expectTriggeredOnce(setup, refusing);
  expect(told()).toEqual(refusing);
});

/** Whether a transaction has observed a policy, and not reset or failed it. */
const hasObserved = ({ logs }: Pick<TransactionReceipt, "logs">): boolean =>
  parseEventLogs({ abi: flashShieldAbi, logs, eventName: "ConfirmationObserved" }).length === 1;

/** All are triggered once. The keeper counts no failure and tells of none. */
async function expectNoFailure(due: readonly bigint[]): Promise<void> {
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
  await untilKeeperHasSeen(setup);
  expect(await failuresOf(setup, due)).toEqual([]);
  await expectNothingSignedTwice(setup, due);
}

const moments = [
  { moment: "before the keeper simulates", matches: "eth_simulateV1" },
  { moment: "after the keeper has signed a batch", matches: "eth_sendRawTransaction" },
];

test.each(moments)(
  "a stranger observes a policy $moment: no failure, and all are triggered",
  async ({ matches }) => {
    const due = await buyPolicies(setup, 3);
    const { reached, release } = holdCalls(setup.proxy, ({ method }) => method === matches);
    await crash(setup);
    await reached();
    expect(hasObserved(await act.observe(setup.protocol, stranger, btc1h, due.slice(1, 2)))).toBe(true);
    release();
    await expectNoFailure(due);
  },
);

test("a stranger's observation is mined in the same block before the keeper's: no failure, and all are triggered", async () => {
  const { chain, protocol, proxy } = setup;
  const due = await buyPolicies(setup, 3);
  const { reached, release } = holdCalls(proxy, isSending);
  await crash(setup);
  await reached();
  await mineNothing(chain);
  const before = await chain.client.getBlockNumber();
  const hash = await chain.client.sendTransaction({
    account: stranger,
    to: protocol.deployment.contracts.shieldKeeper,
    data: upkeepCalldata(btc1h.productId, due.slice(1, 2)),
    gas: upkeepGas(1),
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
  const receipt = await chain.client.waitForTransactionReceipt({ hash });
  const { blockNumber } = receipt;
  expect(hasObserved(receipt)).toBe(true);
  expect(blockNumber).toBe(before + 1n);
  expect((await chain.client.getBlock({ blockNumber })).transactions).toHaveLength(2);
  await mineEverySecond(chain);
  await expectNoFailure(due);
});
