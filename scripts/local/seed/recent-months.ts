/** The last 200 days: listings, redemptions and their queue, burns, and policies that are open today. */
import { parseEther } from "viem";
import * as act from "../protocol/actions/index.ts";
import { termsOf } from "../protocol/terms.ts";
import { seedAccounts, usdc } from "./accounts.ts";
import type { FirstBonds } from "./first-years.ts";
import { DAY, HOUR, MINUTE, type Timeline } from "./timeline.ts";

const { owner, alice, bob, carol, dave, erin, keeper } = seedAccounts;

/** From 200 to 40 days ago: listings sold, cancelled and bought back, and a bond that has not matured today. */
export async function playMarket(
  protocol: act.Protocol,
  timeline: Timeline,
  { first, second }: FirstBonds,
): Promise<void> {
  const eth48 = termsOf("FLASHETH48-001");
  await timeline.at(200 * DAY);
  const sold = await act.listBond(protocol, erin, second, 2_000n, usdc(1_880));
  const cancelled = await act.listBond(protocol, erin, second, 500n, usdc(480));
  const boughtBack = await act.listBond(protocol, erin, second, 300n, usdc(285));
  await timeline.at(190 * DAY);
  await act.buyListing(protocol, bob, sold);
  await act.cancelListing(protocol, erin, cancelled);
  await act.buyBack(protocol, owner, boughtBack);
  await act.withdrawProceeds(protocol, erin);

  await timeline.at(150 * DAY);
  await act.surrenderBonds(protocol, dave, first, 100n);

  await timeline.at(120 * DAY);
  const { policyId } = await act.purchase(protocol, alice, eth48, usdc(2_000));
  await timeline.at(119 * DAY);
  const { epochId: third } = await act.trigger(protocol, alice, eth48, policyId);
  await act.listBond(protocol, alice, third, 600n, usdc(560));

  await timeline.at(40 * DAY);
  await act.setAuthorizedCaller(protocol, owner, owner.address, true);
  await act.burnReserves(protocol, owner, parseEther("100000"));
  await act.setAuthorizedCaller(protocol, owner, owner.address, false);
  await act.burnTokens(protocol, owner, parseEther("25000"));
}

/** Bob redeems while the token costs this much, so little that the week's cap is reached. */
async function redeemAtLowPrice(
  protocol: act.Protocol,
  epochId: bigint,
  dollars: readonly bigint[],
  price: string,
) {
  await act.setTokenPrice(protocol, owner, price);
  for (const amount of dollars) await act.redeem(protocol, bob, epochId, amount);
}

/**
 * From 33 to 3 days ago: the first bonds are redeemed, at once and through the queue; burns and buybacks. Nobody processes the
 * queue of one week, so its entry is stranded.
 */
export async function playRedemptions(
  protocol: act.Protocol,
  timeline: Timeline,
  { first, second }: FirstBonds,
): Promise<void> {
  const btc24 = termsOf("FLASHBTC24-001");
  const eth24 = termsOf("FLASHETH24-001");
  await timeline.at(33 * DAY);
  await act.redeem(protocol, alice, first, 1_500n);
  await act.redeem(protocol, dave, first, 1_900n);
  await act.redeem(protocol, carol, first, 6_000n);
  await act.executeBurn(protocol, keeper);
  await redeemAtLowPrice(protocol, first, [800n, 50n], "0.012");

  await timeline.at(26 * DAY);
  await act.processQueue(protocol, keeper);
  await timeline.at(25 * DAY);
  await act.burnTokens(protocol, alice, parseEther("1000"));

  for (const daysAgo of [21, 17, 14, 9, 6]) {
    await timeline.at(daysAgo * DAY);
    await act.purchase(protocol, daysAgo % 2 ? bob : dave, daysAgo % 3 ? btc24 : eth24, usdc(daysAgo * 100));
    if (daysAgo === 17 || daysAgo === 6)
      await act.buyBack(protocol, owner, await act.listBond(protocol, erin, second, 100n, usdc(93)));
    else await act.executeBurn(protocol, keeper);
    if (daysAgo !== 17) continue;
    await act.redeem(protocol, carol, first, 6_000n);
    await redeemAtLowPrice(protocol, first, [500n], "0.0075");
  }

  // Still queued today, for this week or the next.
  await timeline.at(3 * DAY);
  await act.redeem(protocol, carol, first, 7_000n);
  await act.listBond(protocol, erin, second, 1_000n, usdc(920));
  await act.executeBurn(protocol, keeper);
  await redeemAtLowPrice(protocol, first, [700n], "0.0095");
}

/** The last two days: an open policy of each product, one in its waiting period, and a listing sold today. */
export async function playToday(
  protocol: act.Protocol,
  timeline: Timeline,
  { second }: FirstBonds,
): Promise<void> {
  await timeline.at(36 * HOUR);
  await act.purchase(protocol, alice, termsOf("FLASHBTC48-001"), usdc(3_000));
  await act.purchase(protocol, bob, termsOf("FLASHETH48-001"), usdc(1_000));
  await act.executeBurn(protocol, keeper);
  const listing = await act.listBond(protocol, bob, second, 700n, usdc(655));

  await timeline.at(10 * HOUR);
  await act.purchase(protocol, carol, termsOf("FLASHBTC24-001"), usdc(6_000));
  await act.purchase(protocol, dave, termsOf("FLASHETH24-001"), usdc(450));
  await act.buyListing(protocol, dave, listing);
  await act.buyBack(protocol, owner, await act.listBond(protocol, erin, second, 50n, usdc(47)));

  await timeline.at(HOUR);
  await act.purchase(protocol, erin, termsOf("FLASHETH48-001"), usdc(1_800));
  await timeline.at(20 * MINUTE);
  await act.purchase(protocol, alice, termsOf("FLASHBTC1H-001"), usdc(2_500));
  await act.purchase(protocol, erin, termsOf("FLASHETH1H-001"), usdc(100));
}
