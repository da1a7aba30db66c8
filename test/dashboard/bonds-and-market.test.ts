/** What this proves: Bonds and Market have the API's figures, with every digit, in the month, order and range of the address. */
import { beforeAll, describe, expect } from "vitest";
import type { z } from "zod";
import { percentText } from "../../dashboard/format/amount.ts";
import { epochName } from "../../dashboard/format/epoch.ts";
import { ofFace } from "../../dashboard/pages/market/face.ts";
import { listBond } from "../../scripts/local/protocol/actions/index.ts";
import { seedAccounts, usdc } from "../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../api/support/api.ts";
import { type OpenPage, testWithBrowser } from "../support/chromium.ts";
import {
  amountsIn,
  choose,
  exactFigure,
  exactPercent,
  expectAccessibleEverywhere,
  openDashboard,
  part,
  percentsIn,
  plotValues,
  table,
} from "./support/dashboard.ts";
import { readApi, startHistory } from "./support/history.ts";
import * as shapes from "./support/shapes.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startHistory();
});

const read = <T>(path: string, shape: z.ZodType<T>) => readApi(api, path, shape);
describe("bonds", () => {
  let opened: OpenPage;

  testWithBrowser("sentence, ladder and balance are the API's, by what became of the bonds", async () => {
    opened = await openDashboard(api.stack.apiUrl, "/bonds");
    const { epochs, total } = await read("/api/v1/stats/bonds/maturities", shapes.maturities);
    const { minted_usd, redeemed_usd, queued_usd, surrendered_usd, outstanding_usd } = total;
    expect(epochs.length).toBeGreaterThan(1);
    expect(await amountsIn(opened, ".sentence")).toEqual([outstanding_usd, queued_usd]);
    expect(await amountsIn(opened, ".balance")).toEqual([
      minted_usd,
      redeemed_usd,
      queued_usd,
      surrendered_usd,
      outstanding_usd,
    ]);
    expect(await amountsIn(opened, table("Bonds by maturity"))).toEqual(
      epochs.flatMap((epoch) => [
        epoch.minted_usd,
        epoch.redeemed_usd,
        epoch.queued_usd,
        epoch.surrendered_usd,
        epoch.outstanding_usd,
        epoch.listed_usd,
      ]),
    );
    const bars = [
      ["In circulation", "outstanding_usd"],
      ["Queued", "queued_usd"],
      ["Redeemed", "redeemed_usd"],
      ["Issued", "minted_usd"],
    ] as const;
    for (const [title, field] of bars) {
      await choose(opened, "What the bars show", title);
      expect(await plotValues(opened, `${title} by maturity`)).toEqual(
        epochs.map((epoch) => epoch[field]).reverse(),
      );
    }
    expect(new URL(opened.page.url()).search).toBe("?bars=issued");
  });

  testWithBrowser("the reserve and what it is taken for are the API's", async () => {
    const vault = await read("/api/v1/stats/vault", shapes.vault);
    expect(await exactFigure(opened, "Reserve")).toBe(vault.reserve_usdc);
    expect(await exactFigure(opened, "Price of a token")).toBe(vault.token_price.price);
    expect(await exactPercent(opened, "Solvency")).toBe(percentText(vault.solvency_ratio));
    expect(await exactPercent(opened, "In use")).toBe(percentText(vault.utilisation));
    expect(await amountsIn(opened, `${part("Reserve and obligations")} .shares`)).toEqual([
      vault.obligations_usd,
      vault.reserved_usdc,
      vault.capacity_usdc,
    ]);
  });

  testWithBrowser("the queue has each redemption, and what is left of the week's limit", async () => {
    const { entries, waiting, throttle } = await read("/api/v1/stats/queue", shapes.queue);
    expect(entries.length).toBeGreaterThan(0);
    expect(await amountsIn(opened, table("Redemptions that wait"))).toEqual(
      entries.flatMap(({ queue_id, usd_amount, ahead_usd }) => [queue_id, usd_amount, ahead_usd]),
    );
    expect(await exactFigure(opened, "Waiting")).toBe(waiting.usd);
    expect(await exactFigure(opened, "Due this week")).toBe(waiting.due_usd);
    expect(await exactFigure(opened, "Left this week")).toBe(throttle.left_usdc);
    expect(await amountsIn(opened, `${part("Redemption queue")} .shares`)).toEqual([
      throttle.paid_token,
      throttle.left_token,
    ]);
    const free = BigInt(throttle.left_usdc) - BigInt(waiting.due_usd) * 1_000_000n;
    expect(await amountsIn(opened, `${part("Redemption queue")} > .lead`)).toEqual([
      waiting.usd,
      ...(free > 0n ? [String(free)] : []),
    ]);
  });

  testWithBrowser("holders are those of the month in the address, or of all", async () => {
    const all = await read("/api/v1/stats/holders", shapes.holders);
    const months = all.by_epoch.filter(({ outstanding_usd }) => outstanding_usd !== "0");
    const [first, ...others] = all.holders.map(({ bonds_usd }) => BigInt(bonds_usd));
    expect(await amountsIn(opened, table("Holders of bonds"))).toEqual(
      all.holders.map(({ bonds_usd }) => bonds_usd),
    );
    expect(await amountsIn(opened, table("Holders by month of maturity"))).toEqual(
      all.by_epoch.flatMap(({ holders, outstanding_usd }) => [String(holders), outstanding_usd]),
    );
    expect(all.holders_total).toBe(all.holders.length);
    expect(await amountsIn(opened, `${part("Holders")} .shares`)).toEqual([
      String(first),
      String(others.reduce((sum, bonds) => sum + bonds, 0n)),
    ]);
    expect(months.length).toBeGreaterThan(1);
    for (const { epoch_id } of months) {
      await choose(opened, "Month of maturity", epochName(epoch_id));
      const { holders } = await read(`/api/v1/stats/holders?epoch=${epoch_id}`, shapes.holders);
      expect(await amountsIn(opened, table("Holders of bonds"))).toEqual(
        holders.map(({ bonds_usd }) => bonds_usd),
      );
    }
    const copy = await openDashboard(api.stack.apiUrl, `/bonds${new URL(opened.page.url()).search}`);
    expect(await amountsIn(copy, table("Holders of bonds"))).toEqual(
      await amountsIn(opened, table("Holders of bonds")),
    );
    await expectAccessibleEverywhere(copy);
    expect([...opened.faults(), ...copy.faults()]).toEqual([]);
  });
});

describe("market", () => {
  let opened: OpenPage;

  testWithBrowser("sentence and figures are the API's", async () => {
    opened = await openDashboard(api.stack.apiUrl, "/market");
    const market = await read("/api/v1/stats/market", shapes.market);
    const totals = await read("/api/v1/marketplace/stats", shapes.marketTotals);
    expect(market.sales_24h).toBeGreaterThan(0);
    expect(await amountsIn(opened, ".sentence")).toEqual([market.floor_price, market.volume_24h_usdc]);
    expect(await exactFigure(opened, "Floor")).toBe(market.floor_price);
    const cheapest = market.by_epoch.find(({ floor_price }) => floor_price === market.floor_price);
    expect(await exactPercent(opened, "Yield at the floor")).toBe(percentText(cheapest?.implied_yield ?? ""));
    const listed = market.by_epoch.reduce((sum, { listed_usd }) => sum + BigInt(listed_usd), 0n);
    expect(await exactFigure(opened, "For sale")).toBe(String(listed));
    expect(await exactFigure(opened, "24 h volume")).toBe(market.volume_24h_usdc);
    expect(await exactFigure(opened, "Sold so far")).toBe(totals.totalVolume);
    expect(await exactFigure(opened, "Fees so far")).toBe(totals.totalFees);
  });

  testWithBrowser(
    "each sale has its price against the face value, in the plot and in the table",
    async () => {
      const { sales } = await read("/api/v1/marketplace/recent-sales?limit=100", shapes.sales);
      expect(sales.length).toBeGreaterThan(1);
      expect(await plotValues(opened, "Paid for a dollar of bonds")).toEqual(
        sales.map(({ pricePerUnit }) => pricePerUnit),
      );
      expect(await amountsIn(opened, table("The newest sales"))).toEqual(
        sales.flatMap(({ amount, totalPriceUsdc, sellerFeeUsdc, buyerFeeUsdc }) => [
          amount,
          totalPriceUsdc,
          String(BigInt(sellerFeeUsdc) + BigInt(buyerFeeUsdc)),
        ]),
      );
      const ratios = opened.page.locator(`${table("The newest sales")} span.amount`);
      expect(await ratios.evaluateAll((all) => all.map(({ title }) => title))).toEqual(
        sales.map(({ pricePerUnit }) => percentText(ofFace(pricePerUnit))),
      );
    },
  );

  testWithBrowser("listings come in the order of the address", async () => {
    const orders = [
      ["Smallest first", "price-asc"],
      ["Largest first", "price-desc"],
      ["Newest first", "createdAt-desc"],
    ] as const;
    for (const [label, sortBy] of orders) {
      await choose(opened, "Order of the listings", label);
      const { listings } = await read(`/api/v1/marketplace/listings?sortBy=${sortBy}`, shapes.listings);
      expect(listings.length).toBeGreaterThan(1);
      expect(await amountsIn(opened, table("Bonds for sale"))).toEqual(
        listings.flatMap(({ listingId, amount, totalPriceUsdc }) => [listingId, amount, totalPriceUsdc]),
      );
    }
    expect(new URL(opened.page.url()).search).toBe("?listings=newest");
  });

  testWithBrowser("floors, yields and sales of each month, and of each day, are the API's", async () => {
    const { by_epoch, by_day } = await read("/api/v1/stats/market", shapes.market);
    const known = (values: readonly (string | number | null)[]) =>
      values.flatMap((value) => (value === null ? [] : [String(value)]));
    expect(await amountsIn(opened, table("The market by maturity"))).toEqual(
      by_epoch.flatMap((epoch) =>
        known([
          epoch.listed_usd,
          epoch.floor_price,
          epoch.sales,
          epoch.sold_usd,
          epoch.average_price,
          epoch.volume_usdc,
          epoch.fees_usdc,
        ]),
      ),
    );
    expect(await percentsIn(opened, table("The market by maturity"))).toEqual(
      by_epoch.flatMap(({ implied_yield }) => (implied_yield === null ? [] : [percentText(implied_yield)])),
    );
    const days = by_day.filter(({ sales }) => sales > 0).reverse();
    expect(await amountsIn(opened, table("The newest days with sales"))).toEqual(
      days.flatMap((day) =>
        known([day.sales, day.sold_usd, day.average_price, day.volume_usdc, day.fees_usdc]),
      ),
    );
    for (const [label, interval] of [
      ["By month", "month"],
      ["By week", "week"],
    ] as const) {
      await choose(opened, "Length of the bars", label);
      const query = `metric=bond_sales&interval=${interval}`;
      const { buckets } = await read(`/api/v1/stats/series?${query}`, shapes.series);
      expect(await plotValues(opened, "Sold bonds")).toEqual(buckets.map(({ value }) => value).reverse());
    }
  });

  testWithBrowser("a bond that is listed appears by itself, with its yield", async () => {
    const { by_epoch } = await read("/api/v1/stats/market", shapes.market);
    const { epoch_id = "" } = by_epoch.find(({ implied_yield }) => implied_yield !== null) ?? {};
    const owner = await read(`/api/v1/stats/holders?epoch=${epoch_id}`, shapes.holders);
    const seller = Object.values(seedAccounts).find(
      ({ address }) => address.toLowerCase() === owner.holders[0]?.holder.toLowerCase(),
    );
    if (!seller) throw new Error("nobody holds bonds of that month");
    await listBond(api.protocol, seller, BigInt(epoch_id), 10n, usdc(7));
    const added = `${table("Bonds for sale")} tr.new`;
    await opened.page.locator(added).waitFor();
    expect(await percentsIn(opened, added)).toEqual(["70 %", expect.stringMatching(/^[\d,.]+ %$/)]);
    await expectAccessibleEverywhere(opened);
    expect(opened.faults()).toEqual([]);
  });
});
