/** What these tests prove: the overview's figures are the API's, digit by digit, and follow a history from its beginning. */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { counted, percentText } from "../../../dashboard/format/amount.ts";
import { purchase } from "../../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { seedAccounts, usdc } from "../../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../../api/support/api.ts";
import { closePages, type OpenPage, testWithBrowser } from "../../support/chromium.ts";
import { amountsIn, figureOf, openDashboard } from "../support/dashboard.ts";
import { playHistory } from "../support/history.ts";

let api: TestApi;
let overview: OpenPage;

const cover = z.object({ active: z.object({ policies: z.number(), coverage: z.string() }) });
const protocol = z.object({
  policies_triggered: z.number(),
  total_premium_collected: z.string(),
  token_total_burned: z.string(),
});
const products = z.object({
  products: z.array(z.object({ coverage: z.string(), premium: z.string(), paid: z.string() })),
  total: z.object({ paid: z.string(), loss_ratio: z.string() }),
});
const activity = z.object({ events: z.array(z.object({ amount: z.string() })) });
const series = z.object({ buckets: z.array(z.object({ value: z.string() })) });

async function read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
  return shape.parse((await api.request(`/api/v1/stats/${path}`)).json);
}

const exact = (label: string) =>
  figureOf(overview, label)
    .locator("data")
    .evaluate((amount) => amount.getAttribute("value"));

/** The tests, on a chain that is still empty. They play the history on it. */
export function testOverview(started: () => TestApi): void {
  describe("overview", () => {
    beforeAll(() => {
      api = started();
    });
    afterAll(closePages);

    testWithBrowser("on the empty chain it says that nothing was bought", async () => {
      overview = await openDashboard(api.stack.apiUrl, "/");
      await overview.page.getByText("No policy has been bought yet.").waitFor();
    });

    describe("on a chain with a history", () => {
      beforeAll(() => playHistory(api));

      testWithBrowser("the page that was open on the empty chain shows the history by itself", async () => {
        const { active } = await read("cover", cover);
        await overview.page.getByText(counted(active.policies, "policy covers", "policies cover")).waitFor();
      });

      testWithBrowser("sentence, figures and tables have the API's amounts, with every digit", async () => {
        await closePages();
        overview = await openDashboard(api.stack.apiUrl, "/");
        const [{ active }, sums, stats, { events }] = await Promise.all([
          read("cover", cover),
          read("protocol", protocol),
          read("products", products),
          read("activity?limit=12", activity),
        ]);
        expect(await amountsIn(overview, ".sentence")).toEqual([active.coverage]);
        expect(await exact("Active cover")).toBe(active.coverage);
        expect(await exact("Premiums")).toBe(sums.total_premium_collected);
        expect(await exact("Payouts")).toBe(stats.total.paid);
        expect(await exact("Burned")).toBe(sums.token_total_burned);
        expect(await figureOf(overview, "Loss ratio").locator("span").getAttribute("title")).toBe(
          percentText(stats.total.loss_ratio),
        );
        const table = overview.page.getByRole("table", { name: "Products" }).getByRole("row");
        expect(await table.count()).toBe(stats.products.length + 1);
        const shown = await amountsIn(overview, "section[aria-label='Products']");
        for (const { coverage, premium, paid } of stats.products)
          expect(shown).toEqual(expect.arrayContaining([coverage, premium, paid]));
        expect(await amountsIn(overview, "section[aria-label='The newest events']")).toEqual(
          events.map(({ amount }) => amount),
        );
      });

      testWithBrowser(
        "a plot's cursor moves by keys and says the exact value, which its table has too",
        async () => {
          const { page } = overview;
          const { buckets } = await read("series?interval=month&metric=premiums", series);
          const values = buckets.map(({ value }) => value);
          const plot = page.locator(".plot", { has: page.getByRole("heading", { name: "Premiums" }) });
          const readout = () => plot.locator(".readout data").getAttribute("value");
          await plot.getByRole("slider").focus();
          await page.keyboard.press("Home");
          expect(await readout()).toBe(values[0]);
          await page.keyboard.press("End");
          expect(await readout()).toBe(values.at(-1));
          await page.keyboard.press("ArrowLeft");
          expect(await readout()).toBe(values.at(-2));
          await plot.getByText("Table").click();
          await plot.getByRole("table").waitFor();
          expect(
            await plot.locator("td data").evaluateAll((all) => all.map((one) => one.getAttribute("value"))),
          ).toEqual(values.reverse());
        },
      );

      testWithBrowser("the range is in the address: a copied address shows the same view", async () => {
        const { page } = overview;
        await page.getByRole("link", { name: "By week" }).click();
        await page
          .getByText(/in 30 weeks/)
          .first()
          .waitFor();
        expect(page.url()).toContain("?by=week");
        const copy = await openDashboard(api.stack.apiUrl, new URL(page.url()).search.replace(/^/, "/"));
        await copy.page
          .getByText(/in 30 weeks/)
          .first()
          .waitFor();
        expect(copy.faults()).toEqual([]);
      });

      testWithBrowser("a purchase slides into the activity without a reload", async () => {
        const { page, faults } = overview;
        const { policyId } = await purchase(
          api.protocol,
          seedAccounts.alice,
          termsOf("FLASHBTC24-001"),
          usdc(777),
        );
        await page.getByText(`BTC 24 h, policy ${policyId}`).waitFor();
        await page.locator("tr.new", { hasText: "777.00 USDC" }).waitFor();
        expect(faults()).toEqual([]);
      });
    });
  });
}
