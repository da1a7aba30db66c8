/** The first years: bonds that have matured since, and some trade. */
import * as act from "../protocol/actions/index.ts";
import { termsOf, withdrawnTerms } from "../protocol/terms.ts";
import { seedAccounts, usdc } from "./accounts.ts";
import { DAY, HOUR, MINUTE, pricesOf, type Timeline } from "./timeline.ts";

const { owner, alice, bob, carol, dave, erin, keeper } = seedAccounts;

/** Epoch ids of bonds that later parts use. */
export type FirstBonds = { readonly first: bigint; readonly second: bigint };

/** From 799 to 300 days ago. */
export async function playFirstYears(protocol: act.Protocol, timeline: Timeline): Promise<FirstBonds> {
  const btc1h = termsOf("FLASHBTC1H-001");
  const eth1h = termsOf("FLASHETH1H-001");
  const btc24 = termsOf("FLASHBTC24-001");
  const btc48 = termsOf("FLASHBTC48-001");
  const eth24 = termsOf("FLASHETH24-001");
  const eth48 = termsOf("FLASHETH48-001");

  // Of a product that is no longer sold today one policy is closed on chain, and one expires.
  await timeline.at(798 * DAY);
  const closed = await act.purchase(protocol, alice, withdrawnTerms, usdc(2_000));
  await act.purchase(protocol, bob, withdrawnTerms, usdc(5_000));

  // Prices crash and three policies pay. Redeeming Carol's bonds takes many weeks of her share.
  await timeline.at(797 * DAY);
  const carols = await act.purchase(protocol, carol, btc1h, usdc(200_000));
  const alices = await act.purchase(protocol, alice, eth1h, usdc(5_000));
  const daves = await act.purchase(protocol, dave, btc24, usdc(2_500));
  await timeline.withoutPricesAt(797 * DAY - 20 * MINUTE);
  const { epochId: first } = await act.trigger(protocol, keeper, btc1h, carols.policyId);
  await act.trigger(protocol, alice, eth1h, alices.policyId);
  await act.trigger(protocol, dave, btc24, daves.policyId);

  await timeline.at(794 * DAY);
  await act.markExpired(protocol, keeper, withdrawnTerms, closed.policyId);
  await timeline.at(790 * DAY);
  await act.executeBurn(protocol, keeper);

  await timeline.at(650 * DAY);
  const sold = await act.listBond(protocol, alice, first, 1_500n, usdc(1_410));
  await timeline.at(648 * DAY);
  await act.buyListing(protocol, dave, sold);
  await act.withdrawProceeds(protocol, alice);
  await act.buyListing(protocol, bob, await act.listBond(protocol, carol, first, 2_500n, usdc(2_300)));

  // One of these is closed on chain, the others expire.
  await timeline.at(600 * DAY);
  await act.purchase(protocol, bob, eth48, usdc(4_000));
  const expired = await act.purchase(protocol, carol, eth24, usdc(1_200));
  await act.purchase(protocol, dave, btc48, usdc(800));
  await timeline.at(597 * DAY);
  await act.markExpired(protocol, carol, eth24, expired.policyId);
  await act.executeBurn(protocol, keeper);

  // The token price falls below the minimum, so the router pauses until it recovers.
  await timeline.at(500 * DAY);
  await act.setMinimumTokenPrice(protocol, owner, 5n * 10n ** 16n);
  await act.setTokenPrice(protocol, owner, "0.047");
  await act.checkAutoPause(protocol, keeper);
  await timeline.withoutPricesAt(500 * DAY - 3 * HOUR);
  await act.setTokenPrice(protocol, owner, pricesOf(500).token);
  await act.checkAutoPause(protocol, keeper);

  await timeline.at(400 * DAY);
  const erins = await act.purchase(protocol, erin, btc48, usdc(10_000));
  await timeline.at(399 * DAY);
  const { epochId: second } = await act.trigger(protocol, erin, btc48, erins.policyId);

  await timeline.at(320 * DAY);
  await act.setRouterPaused(protocol, owner, true);
  await timeline.withoutPricesAt(320 * DAY - 2 * HOUR);
  await act.setRouterPaused(protocol, owner, false);
  await timeline.at(300 * DAY);
  await act.setGlobalPause(protocol, owner, true);
  await timeline.withoutPricesAt(300 * DAY - 30 * MINUTE);
  await act.setGlobalPause(protocol, owner, false);
  return { first, second };
}
