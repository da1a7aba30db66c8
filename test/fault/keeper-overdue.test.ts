/**
 * What ends without anybody's doing: expired policies, the service's own downtime, and the redemption queue. What this proves, from
 * the chain: expired policies are closed in few transactions, after those that are due; a downtime breaks nothing and is on record;
 * the queue's entries are paid in their week, within its throttle.
 */
import { getAbiItem } from "viem";
import { beforeAll, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
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
  keeperNonce,
  owner,
  prepareBuyer,
  stateOf,
  untilAll,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectTriggeredOnce,
  keeperTransactions,
  triggersOf,
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

test("220 policies expire at once, and one falls due meanwhile: that one is triggered first, and the others are closed in few transactions", async () => {
  const { chain, connection, protocol } = setup;
  const [due = 0n] = await buyPolicies(setup, 1, eth24);
  const expired = await buyPoliciesAtOnce(setup, EXPIRING);
  // All of it waits when the keeper looks again.
  await connection.sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await act.timeTravel(protocol, HOUR + 1n);
  await crash(setup, "ETH");
  await untilIndexed(setup);
  const before = await keeperNonce(chain, keeperWallet.address);
  await connection.sql`delete from service.stop`;
  await untilAll(setup, "triggered", [due], eth24);
  await untilAll(setup, "expired", expired);
  expect((await keeperNonce(chain, keeperWallet.address)) - before).toBeLessThan(15);

  const [triggered] = (await triggersOf(setup)).filter(({ args }) => args.productId === eth24.productId);
  const closed = await protocol.client.getLogs({
    address: protocol.deployment.contracts.policyManager,
    event: getAbiItem({ abi: policyManagerAbi, name: "PolicyExpired" }),
    fromBlock: 0n,
  });
  expect(closed).toHaveLength(expired.length);
  const place = ({ blockNumber, logIndex }: { blockNumber: bigint; logIndex: number }) =>
    blockNumber * 100_000n + BigInt(logIndex);
  for (const log of closed) expect(place(log)).toBeGreaterThan(triggered ? place(triggered) : 2n ** 64n);
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
  await untilAll(setup, "triggered", next);
  await expectTriggeredOnce(setup, next);
});

/** The paid entries of the redemption queue, by the chain. */
const paidEntries = async ({ protocol }: KeeperSetup) =>
  (
    await protocol.client.getLogs({
      address: protocol.deployment.contracts.bondVault,
      event: getAbiItem({ abi: bondVaultAbi, name: "QueueProcessed" }),
      fromBlock: 0n,
      strict: true,
    })
  ).map(({ args }) => args.queueId);

test("the redemption queue: each entry is paid in its week, and nothing is sent while the throttle is used up", async () => {
  const { protocol } = setup;
  await act.refreshFeeds(protocol, owner);
  // 200,000 USD of bonds. A week's throttle pays 54,000 USD, at the price of the local deployment.
  const { policyId } = await act.purchase(protocol, buyer, btc1h, usdc(250_000));
  await crash(setup);
  await untilAll(setup, "triggered", [policyId]);
  const [bond] = await protocol.client.getLogs({
    address: protocol.deployment.contracts.bondVault,
    event: getAbiItem({ abi: bondVaultAbi, name: "BondIssued" }),
    args: { to: buyer.address },
    fromBlock: await protocol.client.getBlockNumber().then((number) => number - 20n),
    strict: true,
  });
  const epochId = bond?.args.epochId ?? 0n;
  await act.mineAt(protocol, ((await act.maturityDate(protocol, epochId)) / WEEK + 1n) * WEEK);
  await act.refreshFeeds(protocol, owner);

  const redeemed = [];
  for (const dollars of [50_000n, 30_000n, 40_000n])
    redeemed.push((await act.redeem(protocol, buyer, epochId, dollars)).state);
  expect(redeemed).toEqual(["paid", "queued", "queued"]);
  await untilKeeperHasSeen(setup);
  expect(await keeperTransactions(setup, "queue")).toEqual([]);
  await act.timeTravel(protocol, WEEK);
  await act.refreshFeeds(protocol, owner);
  await expect.poll(() => paidEntries(setup)).toEqual([1n]);
  await untilKeeperHasSeen(setup);
  expect(await keeperTransactions(setup, "queue")).toHaveLength(1);
  await act.timeTravel(protocol, WEEK);
  await act.refreshFeeds(protocol, owner);
  await expect.poll(() => paidEntries(setup)).toEqual([1n, 2n]);
  await untilKeeperHasSeen(setup);
  expect(await keeperTransactions(setup, "queue")).toHaveLength(2);
});
