/** The redemption queue: weeks, order and price of its payments. */
import { beforeEach, describe, expect, test } from "vitest";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { paidNothing, paysNothing } from "../../workers/keeper/simulate.ts";
import * as act from "../support/protocol-actions.ts";
import { namesOf } from "./log-order.ts";
import { readsOf } from "./reads.ts";
import {
  alice,
  bob,
  DAY,
  expectRevert,
  owner,
  stranger,
  TOKEN,
  travel,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol();
const { tokensOf, vault, ofWeek, redeemedBy } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");
const WEEK = 7n * DAY;
let epochId = 0n;

const processQueue = () => act.processQueue(protocol(), stranger);
const amounts = async () => (await processQueue()).paid.map(({ usd }) => usd);

/** Alice and Bob each hold 20,000 USD of matured bonds at the start of a week. */
beforeEach(async () => {
  for (const account of [alice, bob]) {
    const { policyId } = await act.purchase(protocol(), account, btc1h, 25_000n * USDC);
    ({ epochId } = await act.trigger(protocol(), stranger, btc1h, policyId));
  }
  await act.mineAt(protocol(), ((await act.maturityDate(protocol(), epochId)) / WEEK + 1n) * WEEK);
});

/** Alice redeems 7,000 USD. At the price after it they are the week's whole cap, so that whatever Bob redeems is queued. */
async function fillWeek(): Promise<void> {
  await act.setTokenPrice(protocol(), owner, "0.1");
  expect((await act.redeem(protocol(), alice, epochId, 7_000n)).state).toBe("paid");
  await act.setTokenPrice(protocol(), owner, "0.0092");
}

async function queue(...dollars: bigint[]): Promise<void> {
  await fillWeek();
  for (const amount of dollars)
    expect((await act.redeem(protocol(), bob, epochId, amount)).state).toBe("queued");
  await act.setTokenPrice(protocol(), owner, "0.1");
}

describe("processing", () => {
  test("pays an entry in the next week, not earlier, at the current price", async () => {
    await queue(600n);
    const week = (await vault("currentEpoch")) + 1n;
    expect(await amounts()).toEqual([]);
    expect(await ofWeek("queueLength", week)).toBe(1n);
    await travel(protocol(), WEEK);
    await act.setTokenPrice(protocol(), owner, "0.2");
    const before = await tokensOf(bob.address);
    // Anybody may pay.
    const { paid, receipt } = await processQueue();
    expect(paid).toEqual([{ holder: bob.address, usd: 600n, tokens: 3_000n * TOKEN }]);
    expect(namesOf(receipt)).toEqual(["Transfer", "BondRedeemed", "QueueProcessed"]);
    expect(act.onlyEvent(receipt, bondVaultAbi, "QueueProcessed").args).toEqual({
      throttleEpoch: week,
      count: 1n,
    });
    expect((await tokensOf(bob.address)) - before).toBe(3_000n * TOKEN);
    expect(await vault("totalQueuedUSD")).toBe(0n);
    // The week's cap and the holder's share count it.
    expect(await ofWeek("redeemedInEpoch", week)).toBe(600n * TOKEN);
    expect(await redeemedBy(week, bob.address)).toBe(600n * TOKEN);
    expect(await ofWeek("queueProcessedIndex", week)).toBe(1n);
  });

  test("without an entry to pay tells so", async () => {
    const { paid, receipt } = await processQueue();
    expect(paid).toEqual([]);
    expect(act.onlyEvent(receipt, bondVaultAbi, "QueueProcessed").args.count).toBe(0n);
  });

  test("skips entries that do not fit, and moves its index over the leading paid ones", async () => {
    await queue(100n, 500n, 50n);
    await travel(protocol(), WEEK);
    const week = await vault("currentEpoch");
    await act.redeem(protocol(), alice, epochId, 7_000n);
    // 270 USD are left of the cap.
    await act.setTokenPrice(protocol(), owner, "0.0096");
    const { client, deployment } = protocol();
    const isIdle = () => paysNothing(client, deployment.contracts.bondVault);
    expect(await isIdle()).toBe(false);
    expect(await amounts()).toEqual([100n, 50n]);
    expect(await ofWeek("queueProcessedIndex", week)).toBe(1n);
    // The keeper knows by views or logs that a call pays nothing.
    expect(await isIdle()).toBe(true);
    const { paid, receipt } = await processQueue();
    expect([paid, paidNothing(receipt.logs)]).toEqual([[], true]);
    await act.setTokenPrice(protocol(), owner, "0.1");
    expect(await amounts()).toEqual([500n]);
    expect(await ofWeek("queueProcessedIndex", week)).toBe(3n);
  });

  test("looks at twenty entries in one call", async () => {
    await queue(...Array.from({ length: 21 }, (_, i) => BigInt(i + 1)));
    await travel(protocol(), WEEK);
    expect((await amounts()).length).toBe(20);
    expect(await amounts()).toEqual([21n]);
  });

  test("never pays an entry after its week, which stays queued and takes capacity", async () => {
    await queue(600n);
    const before = await vault("availableCapacityUSD");
    await travel(protocol(), 2n * WEEK);
    expect(await amounts()).toEqual([]);
    expect(await vault("totalQueuedUSD")).toBe(600n * TOKEN);
    expect(await vault("availableCapacityUSD")).toBe(before);
  });

  test("reverts with ORACLE_UNAVAILABLE while the price oracle fails, with Price too low below the minimum", async () => {
    await queue(600n);
    await travel(protocol(), WEEK);
    await act.setPriceStale(protocol(), owner, true);
    await expectRevert(processQueue(), "ORACLE_UNAVAILABLE");
    await act.setPriceStale(protocol(), owner, false);
    await act.setTokenPrice(protocol(), owner, "0.00099999");
    await expectRevert(processQueue(), "Price too low");
    await act.setTokenPrice(protocol(), owner, "0.001");
    expect(await amounts()).toEqual([600n]);
  });
});
