/** What these tests prove: Market has the API's figures, with every digit, in the month, order and range of the address. */
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { z } from "zod";
import { percentText } from "../../../dashboard/format/amount.ts";
import { ofFace } from "../../../dashboard/pages/market/face.ts";
import { listBond } from "../../../scripts/local/protocol/actions/index.ts";
import { seedAccounts, usdc } from "../../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../../api/support/api.ts";
import { closePages, type OpenPage, testWithBrowser } from "../../support/chromium.ts";
import {
  amountsIn,
  choose,
  exactFigure,
  exactPercent,
  expectAccessibleEverywhere,
  openDashboard,
  percentsIn,
  plotValues,
  table,
} from "../support/dashboard.ts";
import { readApi } from "../support/history.ts";
import * as shapes from "../support/shapes.ts";

let api: TestApi;
const read = <T>(path: string, shape: z.ZodType<T>) => readApi(api, path, shape);

/** The tests, on the history that the file has started. The last one lists a bond. */
export function testMarket(history: () => TestApi): void {
  beforeAll(() => {
    api = history();
  });

  describe("market", () => {
    let opened: OpenPage;
    afterAll(closePages);

    testWithBrowser("sentence and figures are the API's", async () => {
      opened = await openDashboard(api.stack.apiUrl, "/market");
      const market = await read("/api/v1/stats/market", shapes.market);
      const totals = await read("/api/v1/marketplace/stats", shapes.marketTotals);
      expect(market.sales_24h).toBeGreaterThan(0);
      expect(await amountsIn(opened, ".sentence")).toEqual([market.floor_price, market.volume_24h_usdc]);
      expect(await exactFigure(opened, "Floor")).toBe(market.floor_price);
      const cheapest = market.by_epoch.find(({ floor_price }) => floor_price === market.floor_price);
      expect(await exactPercent(opened, "Yield at the floor")).toBe(
        percentText(cheapest?.implied_yield ?? ""),
      );
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
        expect(await percentsIn(opened, table("The newest sales"))).toEqual(
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
      for (const interval of ["month", "week"]) {
        await choose(opened, "Length of the bars", `By ${interval}`);
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
}
