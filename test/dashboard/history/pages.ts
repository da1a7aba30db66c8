/**
 * What these tests prove: the pages of cover, claims, token and wallets have the API's amounts, with every digit, and that of the status
 * says which parts are away or late.
 */
import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { amountText } from "../../../dashboard/format/amount.ts";
import { connect } from "../../../lib/db/connect.ts";
import { seedAccounts } from "../../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../../api/support/api.ts";
import { closePages, testWithBrowser } from "../../support/chromium.ts";
import { amountsIn, figureOf, openDashboard, plotValues, settled } from "../support/dashboard.ts";

let api: TestApi;

async function read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
  return shape.parse((await api.request(path)).json);
}

const table = (caption: string) => `section[aria-label='${caption}']`;

/** The tests, on the history that the file has started. The last one leaves a delivery that waits. */
export function testPages(history: () => TestApi): void {
  describe("each page's amounts", () => {
    beforeAll(() => {
      api = history();
    });
    afterEach(closePages);

    testWithBrowser(
      "cover: each product's premium and payout are those of its quote, as the slider moves",
      async () => {
        const opened = await openDashboard(api.stack.apiUrl, "/cover");
        const { products } = await read(
          "/products",
          z.object({
            products: z.array(z.object({ productId: z.string(), active: z.boolean() })),
          }),
        );
        const sold = products.filter(({ active }) => active);
        const quotes = (coverage: number) =>
          Promise.all(
            sold.map(async ({ productId }) => {
              const quote = await read(
                `/products/${productId}/quote?coverageAmount=${coverage}000000`,
                z.object({ premium: z.string(), payout: z.string() }),
              );
              return [quote.premium, quote.payout];
            }),
          );
        // A premium that a busy api did not give is read again.
        await expect.poll(() => amountsIn(opened, table("Products"))).toEqual((await quotes(1000)).flat());
        const slider = opened.page.getByRole("slider", { name: /Coverage/ });
        await slider.focus();
        await opened.page.keyboard.press("ArrowRight");
        await opened.page.getByText("1,100 USDC").waitFor();
        await expect.poll(() => amountsIn(opened, table("Products"))).toEqual((await quotes(1100)).flat());
        const { by_expiry } = await read(
          "/api/v1/stats/cover",
          z.object({ by_expiry: z.array(z.object({ active: z.object({ coverage: z.string() }) })) }),
        );
        const ends = await amountsIn(opened, table("Active cover by its end"));
        expect(ends).toEqual(expect.arrayContaining(by_expiry.map(({ active }) => active.coverage)));
        const { feeds } = await read(
          "/api/v1/stats/prices",
          z.object({ feeds: z.array(z.object({ symbol: z.string(), answer: z.string() })) }),
        );
        // The feeds have 8 decimals and policies 18: the reader sees the same price.
        const nearest = opened.page.getByRole("table", { name: "Active policies" });
        for (const { symbol, answer } of feeds) {
          const row = nearest.getByRole("row", { name: new RegExp(`^${symbol} `) }).first();
          expect(await row.textContent()).toContain(amountText(answer, "feedPrice"));
        }
        expect(opened.faults()).toEqual([]);
      },
    );

    testWithBrowser("claims: what was paid, at which prices", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/claims");
      const { claims } = await read(
        "/api/v1/stats/claims?limit=50",
        z.object({ claims: z.array(z.object({ paid: z.string(), trigger_price: z.string().nullable() })) }),
      );
      expect(claims.length).toBeGreaterThan(0);
      const shown = await amountsIn(opened, table("The newest claims"));
      for (const { paid, trigger_price } of claims)
        expect(shown).toEqual(
          expect.arrayContaining([paid, ...(trigger_price === null ? [] : [trigger_price])]),
        );
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("token: burns by source, and the price in the range of the address", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/token?range=7d");
      const { by_source, total_token_burned, last_30_days_burned } = await read(
        "/api/v1/stats/burns",
        z.object({
          total_token_burned: z.string(),
          last_30_days_burned: z.string(),
          by_source: z.array(z.object({ usdc_spent: z.string(), token_burned: z.string() })),
        }),
      );
      expect(await amountsIn(opened, ".sentence")).toEqual([total_token_burned, last_30_days_burned]);
      const bySource = await amountsIn(opened, table("Burns by source"));
      for (const { usdc_spent, token_burned } of by_source)
        expect(bySource).toEqual(expect.arrayContaining([usdc_spent, token_burned]));
      const range = opened.page.getByRole("navigation", { name: "Time" });
      expect(await range.locator("[aria-current]").textContent()).toBe("7 days");
      await range.getByRole("link", { name: "All" }).click();
      expect(new URL(opened.page.url()).search).toBe("");
      await settled(opened);
      const { points } = await read(
        "/api/v1/stats/token-price-history?range=all",
        z.object({ points: z.array(z.object({ price: z.string() })) }),
      );
      expect(points.length).toBeGreaterThan(0);
      const prices = points.map(({ price }) => price).sort();
      expect((await plotValues(opened, "Price of the token")).sort()).toEqual(prices);
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser(
      "wallet: an address leads to its policies, and a malformed one is explained",
      async () => {
        const opened = await openDashboard(api.stack.apiUrl, "/wallet");
        const { page } = opened;
        const field = page.getByRole("textbox", { name: "Address" });
        await field.fill("0x12");
        await page.keyboard.press("Enter");
        await page.getByText("An address is 0x and 40 hex digits.").waitFor();
        await field.fill(seedAccounts.alice.address);
        await page.getByRole("button", { name: "Show" }).click();
        const { policies, total } = await read(
          `/api/v1/policies/by-buyer/${seedAccounts.alice.address}?limit=25`,
          z.object({
            total: z.number(),
            policies: z.array(z.object({ coverageAmount: z.string(), premiumPaid: z.string() })),
          }),
        );
        expect(total).toBeGreaterThan(0);
        await page.locator(table("Policies of the wallet")).waitFor();
        await settled(opened);
        const shown = await amountsIn(opened, table("Policies of the wallet"));
        for (const { coverageAmount, premiumPaid } of policies)
          expect(shown).toEqual(expect.arrayContaining([coverageAmount, premiumPaid]));
        const { bonds } = await read(
          `/api/v1/bonds/by-owner/${seedAccounts.alice.address}`,
          z.object({ bonds: z.array(z.object({ amount: z.string() })) }),
        );
        expect(bonds.length).toBeGreaterThan(0);
        expect(await amountsIn(opened, table("Bonds of the wallet"))).toEqual(
          bonds.map(({ amount }) => amount),
        );
        const { listings } = await read(
          `/api/v1/marketplace/listings?seller=${seedAccounts.alice.address}`,
          z.object({
            listings: z.array(
              z.object({ listingId: z.string(), amount: z.string(), totalPriceUsdc: z.string() }),
            ),
          }),
        );
        expect(await amountsIn(opened, table("Listings of the wallet"))).toEqual(
          listings.flatMap(({ listingId, amount, totalPriceUsdc }) => [listingId, amount, totalPriceUsdc]),
        );

        // A browser in Madrid: times are local, and their titles have UTC.
        const bought = page.locator(table("Policies of the wallet")).locator("time").first();
        const at = new Date((await bought.getAttribute("datetime")) ?? "");
        const local = new Intl.DateTimeFormat("en-GB", {
          ...({ day: "numeric", month: "short", year: "numeric" } as const),
          ...({ hour: "2-digit", minute: "2-digit", timeZone: "Europe/Madrid" } as const),
        });
        expect(await bought.textContent()).toBe(local.format(at));
        const utc = at.toISOString().slice(0, 19).replace("T", " ");
        expect(await bought.getAttribute("title")).toBe(`${utc} UTC`);

        const saved = page.waitForEvent("download");
        await page.getByRole("button", { name: "Policies of the wallet as CSV" }).click();
        const file = await saved;
        expect(file.suggestedFilename()).toMatch(/^policies-by-buyer-0x.*\.csv$/i);
        const csv = readFileSync(await file.path(), "utf8")
          .trim()
          .split(/\r?\n/);
        expect(csv).toHaveLength(1 + policies.length);
        expect(csv[0]).toContain("coverageAmount");
        expect(opened.faults()).toEqual([]);
      },
    );

    testWithBrowser("status: what is away is named, and how late the oldest delivery is", async () => {
      const opened = await openDashboard(api.stack.apiUrl, "/status");
      const { page } = opened;
      await page.getByText("No writer is running: purchases cannot be sent.").waitFor();
      expect(await figureOf(opened, "Webhooks").textContent()).toBe("In time");
      const { sql, close } = connect(api.stack.databaseUrl, { name: "test" });
      await sql.begin(async (tx) => {
        // Without the event itself, which a writer would have stored.
        await tx`set local session_replication_role = replica`;
        await tx`
      with added as (
        insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
        values (8453, ${seedAccounts.alice.address.toLowerCase()}, 'https://hooks.example', array['*'], 'sealed', 0, 0, 0)
        returning id)
      insert into service.delivery (webhook_id, event_seq, next_attempt_at)
      select id, 1, now() - interval '3 hours' from added`;
      });
      await close();
      await page.reload();
      await expect.poll(() => figureOf(opened, "Webhooks").textContent()).toBe("3 h late");
      await page.getByText("1 delivery waits").waitFor();
      expect(opened.faults()).toEqual([]);
    });
  });
}
