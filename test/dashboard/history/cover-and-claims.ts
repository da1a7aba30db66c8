/**
 * What these tests prove: the pages of cover, claims and burns have the API's figures on a chain with a history; a copied address
 * shows the same product, range and policy; keyboard, axe and a narrow window find nothing in the way.
 */
import { afterEach, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { policyLabel } from "../../../dashboard/format/names.ts";
import { productIdOf } from "../../../lib/products.ts";
import type { TestApi } from "../../api/support/api.ts";
import { writeKeeperAudit } from "../../api/support/keeper-audit.ts";
import { closePages, testWithBrowser } from "../../support/chromium.ts";
import { claimFeed, history, nearest } from "../support/answers.ts";
import { amountsIn, figureOf, openDashboard, settled } from "../support/dashboard.ts";
import { expectEvaluation } from "../support/evaluation.ts";
import {
  chosenIn,
  expectNothingInTheWay,
  plotOf,
  reload,
  sourceOf,
  table,
  wordsIn,
} from "../support/views.ts";

let api: TestApi;

async function read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
  return shape.parse((await api.request(path)).json);
}

/** The tests, on the history that the file has started. They write an audit of the keeper. */
export function testCoverAndClaims(started: () => TestApi): void {
  describe("cover, claims and token", () => {
    beforeAll(() => {
      api = started();
    });
    afterEach(closePages);

    testWithBrowser("cover: active policies, the nearest to its trigger first, as the API's", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/cover");
      const { policies, total } = await read("/api/v1/policies/nearest?limit=50", nearest);
      expect(total).toBeGreaterThan(3);
      expect(await amountsIn(opened, table("Active policies"))).toEqual(
        policies.flatMap(({ coverageAmount, currentPrice, triggerPrice }) => [
          coverageAmount,
          currentPrice,
          triggerPrice,
        ]),
      );
      const names = opened.page.locator(`${table("Active policies")} tbody td:first-child`);
      expect(await names.allTextContents()).toEqual(
        policies.map(({ productName, policyId }) => policyLabel(productName, policyId)),
      );
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("cover: a price's cursor moves by keys over the feed's rounds", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/cover?product=FLASHETH24-001&range=30d");
      const plot = plotOf(opened, "ETH price");
      await plot.locator("canvas").waitFor();
      const { points } = await read(await sourceOf(opened, "ETH price"), history);
      const readout = () => plot.locator(".readout data").getAttribute("value");
      await plot.getByRole("slider").focus();
      await opened.page.keyboard.press("Home");
      expect(await readout()).toBe(points.at(0)?.price);
      await opened.page.keyboard.press("End");
      expect(await readout()).toBe(points.at(-1)?.price);
      await plot.getByText("Table").click();
      await plot.getByRole("table").waitFor();
      const shown = await plot
        .locator("td data")
        .evaluateAll((all) => all.map((one) => one.getAttribute("value")));
      expect(shown).toEqual(expect.arrayContaining(points.map(({ price }) => price)));
      const [first] = (
        await read(`/api/v1/policies/nearest?product=${productIdOf("FLASHETH24-001")}`, nearest)
      ).policies;
      if (!first) throw new Error("no policy of the product is active");
      expect(await plot.locator("figcaption .note").textContent()).toContain(
        policyLabel(first.productName, first.policyId),
      );
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("cover: product and range are in the address, and a reload keeps both", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/cover");
      const { page } = opened;
      await plotOf(opened, "BTC price").waitFor();
      await plotOf(opened, "ETH price").waitFor();
      await page.getByRole("navigation", { name: "Product" }).getByRole("link", { name: "BTC 48 h" }).click();
      await page.getByRole("navigation", { name: "Time" }).getByRole("link", { name: "7 days" }).click();
      expect(new URL(page.url()).search).toBe("?product=FLASHBTC48-001&range=7d");
      await reload(opened);
      expect([await chosenIn(opened, "Product"), await chosenIn(opened, "Time")]).toEqual([
        "BTC 48 h",
        "7 days",
      ]);
      expect(await plotOf(opened, "ETH price").count()).toBe(0);
      expect(await sourceOf(opened, "BTC price")).toContain("range=7d");
      const { policies } = await read(
        `/api/v1/policies/nearest?limit=50&product=${productIdOf("FLASHBTC48-001")}`,
        nearest,
      );
      expect(await wordsIn(opened, "Active policies", 1)).toEqual(
        policies.map(({ productName, policyId }) => policyLabel(productName, policyId)),
      );
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser(
      "claims: the newest is evaluated, another by its name, and a reload keeps it",
      async () => {
        const opened = await openDashboard(api.stack.apiUrl, "/claims");
        const { claims } = await read("/api/v1/stats/claims", claimFeed);
        const [newest, other] = [claims[0], claims.at(-1)];
        if (!newest || !other || newest === other) throw new Error("the history has too few claims");
        await expectEvaluation(api.request, opened, newest);
        const name = policyLabel(other.product_name, other.policy_id);
        const rows = opened.page.getByRole("table", { name: "The newest claims" });
        await rows.getByRole("link", { name, exact: true }).click();
        await expectEvaluation(api.request, opened, other);
        expect(new URL(opened.page.url()).searchParams.get("policy")).toBe(
          `${other.product_id}-${other.policy_id}`,
        );
        await reload(opened);
        await expectEvaluation(api.request, opened, other);
        await expectNothingInTheWay(opened);
      },
    );

    testWithBrowser("claims: product and range are in the address, and a reload keeps both", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/claims");
      const { page } = opened;
      const { claims } = await read("/api/v1/stats/claims", claimFeed);
      const shownClaims = async () =>
        (await read(await sourceOf(opened, "The newest claims"), claimFeed)).claims.flatMap(
          ({ paid, strike_price, trigger_price }) => [paid, strike_price, trigger_price],
        );
      const [first] = claims;
      if (!first) throw new Error("the history has no claim");
      await page.goto(`${api.stack.apiUrl}/claims?product=${first.product_name}`);
      await page.locator(table("The newest claims")).waitFor();
      const source = await sourceOf(opened, "The newest claims");
      expect(new URLSearchParams(source.split("?")[1]).get("product")).toBe(first.product_id);
      expect(await amountsIn(opened, table("The newest claims"))).toEqual(await shownClaims());
      expect((await shownClaims()).length).toBeGreaterThan(0);
      await page.getByRole("navigation", { name: "Time" }).getByRole("link", { name: "7 days" }).click();
      await expect.poll(() => sourceOf(opened, "The newest claims")).toContain("from=");
      await settled(opened);
      await reload(opened);
      await expect.poll(() => sourceOf(opened, "The newest claims")).toContain("from=");
      await settled(opened);
      expect(await amountsIn(opened, table("The newest claims"))).toEqual(await shownClaims());
      expect(await chosenIn(opened, "Time")).toBe("7 days");
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("claims: a policy's name on the cover page leads to its evaluation", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/cover");
      const { page } = opened;
      const [first] = (await read("/api/v1/policies/nearest?limit=1", nearest)).policies;
      if (!first) throw new Error("no policy is active");
      const path = `/api/v1/triggers/${first.productId}/${first.policyId}`;
      const { verdict } = await read(path, z.object({ verdict: z.object({ message: z.string() }) }));
      await page
        .locator(`${table("Active policies")} tbody td:first-child a`)
        .first()
        .click();
      await page.getByRole("heading", { level: 1, name: "Claims" }).waitFor();
      await page.getByText(verdict.message).waitFor();
      await settled(opened);
      expect(await figureOf(opened, "Payout").locator("data").count()).toBe(1);
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("claims: the keeper's audit is the API's, by result and reason", async () => {
      await writeKeeperAudit(api);
      const opened = await openDashboard(api.stack.apiUrl, "/claims");
      const { results } = await read(
        "/api/v1/stats/keeper",
        z.object({ results: z.array(z.object({ policies: z.number() })) }),
      );
      expect(await amountsIn(opened, table("Results of the keeper’s audit"))).toEqual(
        results.map(({ policies }) => String(policies)),
      );
      await opened.page
        .getByText(
          "Up to block 1,234, 3 policies could have been paid and were not; 4 policies fell far enough",
        )
        .waitFor();
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser(
      "token: the newest burns, of the source in the address, which a reload keeps",
      async () => {
        const opened = await openDashboard(api.stack.apiUrl, "/token");
        const { page } = opened;
        const burns = z.object({ burns: z.array(z.object({ tokenBurned: z.string(), source: z.string() })) });
        const burned = () => amountsIn(opened, `${table("Newest burns")} td:nth-child(2)`);
        const all = await read("/api/v1/burns/recent?limit=25", burns);
        expect(await burned()).toEqual(all.burns.map(({ tokenBurned }) => tokenBurned));
        await page
          .getByRole("navigation", { name: "Burned by" })
          .getByRole("link", { name: "Holders" })
          .click();
        expect(new URL(page.url()).search).toBe("?source=direct");
        await reload(opened);
        const own = await read("/api/v1/burns/recent?limit=25&source=direct", burns);
        expect(own.burns.length).toBeGreaterThan(0);
        expect(await burned()).toEqual(own.burns.map(({ tokenBurned }) => tokenBurned));
        expect(new Set(await wordsIn(opened, "Newest burns", 1))).toEqual(new Set(["Holders"]));
        expect(opened.faults()).toEqual([]);
      },
    );
  });
}
