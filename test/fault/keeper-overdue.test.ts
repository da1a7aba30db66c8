/**
 * What ends without anybody's doing: expired policies, the service's own downtime, and the redemption queue. What this proves, from
 * the chain: expired policies are closed after those that are due are observed; a downtime breaks nothing and is on record;
 * the queue's entries are paid in their week, also behind one that does not fit yet.
 */
import { getAbiItem } from "viem";
import { beforeAll, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import {
  btc1h,
  buyer,
  buyPolicies,
  buyPoliciesAtOnce,
  crash,
  eth24,
  owner,
  prepareBuyer,
  stateOf,
  untilAll,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectTriggeredOnce,
  keeperTransactions,
  untilDue,
  untilIndexed,
  untilKeeperHasSeen,
} from "./support/keeper-truth.ts";

const HOUR = 3600n;
const WEEK = 7n * 24n * HOUR;

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});

/** More than a round of the keeper simulates. */
const EXPIRING = 220;

test("220 policies expire at once, and one falls due meanwhile: that one is observed first, and the others are closed", async () => {
  const { connection, protocol } = setup;
  const [due = 0n] = await buyPolicies(setup, 1, eth24);
  const expired = await buyPoliciesAtOnce(setup, EXPIRING);
  // All of it waits when the keeper looks again.
  await connection.sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await act.timeTravel(protocol, HOUR + 1n);
  await crash(setup, "ETH");
  await untilDue(setup, 1);
  await connection.sql`delete from service.stop`;
  await untilPaid(setup, [due], eth24);
  await untilAll(setup, "expired", expired);

  const [observed] = await protocol.client.getLogs({
    address: (await act.coverOf(protocol, eth24, due)).shield,
    event: getAbiItem({ abi: flashShieldAbi, name: "ConfirmationObserved" }),
    fromBlock: 0n,
  });
  const closed = await protocol.client.getLogs({
    address: protocol.deployment.contracts.policyManager,
    event: getAbiItem({ abi: policyManagerAbi, name: "PolicyExpired" }),
    fromBlock: 0n,
  });
  expect(closed).toHaveLength(expired.length);
  const place = ({ blockNumber, logIndex }: { blockNumber: bigint; logIndex: number }) =>
    blockNumber * 100_000n + BigInt(logIndex);
  for (const log of closed) expect(place(log)).toBeGreaterThan(observed ? place(observed) : 2n ** 64n);
});

test("the writer is away for an hour: what was due then is not any more, it is closed, and the downtime is on record", async () => {
  const { connection, protocol, stack } = setup;
  await act.refreshFeeds(protocol, owner);
  const lost = await buyPolicies(setup, 3);
  const [longer = 0n] = await buyPolicies(setup, 1, eth24);
  await untilKeeperHasSeen(setup);
  await stack.stopService("writer");
  const from = await act.chainTime(protocol);
  await crash(setup);
  await act.timeTravel(protocol, HOUR + 1n);
  await act.refreshFeeds(protocol, owner);
  const until = await act.chainTime(protocol);
  await untilIndexed(setup);
  await stack.start("writer");
  await untilAll(setup, "expired", lost);
  await untilKeeperHasSeen(setup);
  expect(await stateOf(setup, longer, eth24)).toBe("open");
  // No row covers a part of the time in which nobody was there.
  const covering = await connection.sql`
    select since, until from service.keeper_watch where since < ${String(until)}::numeric and until > ${String(from)}::numeric`;
  expect(covering).toEqual([]);
  // It goes on as before.
  const next = await buyPolicies(setup, 1);
  await crash(setup);
  await untilPaid(setup, next);
  await expectTriggeredOnce(setup, next);
});

/** What the redemption queue has paid, whole dollars, by the chain. */
const paidFromQueue = async ({ protocol }: KeeperSetup) => {
  const address = protocol.deployment.contracts.bondVault;
  const event = getAbiItem({ abi: bondVaultAbi, name: "BondRedeemed" });
  const logs = await protocol.client.getLogs({ address, event, fromBlock: 0n, strict: true });
  return logs.filter(({ args }) => args.usdAmount < 1_000n).map(({ args }) => args.usdAmount);
};

test("the redemption queue: nothing is sent before its week, what fits is paid behind an entry that does not, and that one once the price has risen", async () => {
  const { connection, protocol } = setup;
  await act.refreshFeeds(protocol, owner);
  const epochs: bigint[] = [];
  for (const account of [buyer, owner]) {
    await act.mintUsdc(protocol, owner, account.address, usdc(1_000));
    await act.approveUsdc(protocol, account, protocol.deployment.contracts.coverRouter);
    const { policyId } = await act.purchase(protocol, account, btc1h, usdc(25_000));
    await crash(setup);
    await untilPaid(setup, [policyId]);
    const bonds = await protocol.client.getLogs({
      address: protocol.deployment.contracts.bondVault,
      event: getAbiItem({ abi: bondVaultAbi, name: "BondIssued" }),
      args: { to: account.address },
      fromBlock: 0n,
      strict: true,
    });
    epochs.push(bonds.at(-1)?.args.epochId ?? 0n);
  }
  const [epochId = 0n, ownersEpoch = 0n] = epochs;
  await act.mineAt(protocol, ((await act.maturityDate(protocol, ownersEpoch)) / WEEK + 1n) * WEEK);
  await act.refreshFeeds(protocol, owner);

  // The owner redeems so much that the week's cap is reached at a low price.
  expect((await act.redeem(protocol, owner, ownersEpoch, 7_000n)).state).toBe("paid");
  await act.setTokenPrice(protocol, owner, "0.0092");
  for (const dollars of [500n, 100n])
    expect((await act.redeem(protocol, buyer, epochId, dollars)).state).toBe("queued");
  await untilKeeperHasSeen(setup);
  expect(await keeperTransactions(setup, "queue")).toEqual([]);
  await connection.sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await act.setTokenPrice(protocol, owner, "0.1");
  await act.timeTravel(protocol, WEEK);
  await act.refreshFeeds(protocol, owner);
  // 270 USD are left of the week's cap.
  expect((await act.redeem(protocol, owner, ownersEpoch, 7_000n)).state).toBe("paid");
  await act.setTokenPrice(protocol, owner, "0.0096");
  await untilIndexed(setup);
  await connection.sql`delete from service.stop`;
  await expect.poll(() => paidFromQueue(setup)).toEqual([100n]);
  await untilKeeperHasSeen(setup);
  await act.setTokenPrice(protocol, owner, "0.1");
  await expect.poll(() => paidFromQueue(setup)).toEqual([100n, 500n]);
  await untilKeeperHasSeen(setup);
  expect(await keeperTransactions(setup, "queue")).toHaveLength(2);
  const failed =
    await connection.sql`select from service.keeper_task where purpose = 'queue' and failures > 0`;
  expect(failed).toEqual([]);
});
