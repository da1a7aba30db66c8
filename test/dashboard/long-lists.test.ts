/**
 * What this proves: a wallet with 10,000 policies and a market with thousands of events are shown page by page, each page with
 * the API's rows, and the browser never holds more than a page of each list.
 */
import postgres from "postgres";
import { afterEach, beforeAll, expect } from "vitest";
import { z } from "zod";
import { fillIndex, walletOf } from "../../bench/fill-index.ts";
import { startApi, type TestApi } from "../api/support/api.ts";
import { answersCaughtUp } from "../api/support/caught-up.ts";
import { servedSchema } from "../src/support/rows.ts";
import { closePages, type OpenPage, testWithBrowser } from "../support/chromium.ts";
import { atEnd } from "../support/cleanup.ts";
import { amountsIn, expectAccessible, openDashboard, settled, table } from "./support/dashboard.ts";
import { readApi } from "./support/history.ts";

/** One wallet has them all; a third of the other events are open listings, a hundredth of them wait in the queue. */
const sizes = { policies: 10_000, burns: 100, others: 3_000, wallets: 1 };
const wallet = walletOf(0, sizes.wallets);

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["indexer", "api"] });
  await answersCaughtUp(api);
  // An hour: postgres.js does not send a 0.
  const connection = { statement_timeout: 3_600_000 };
  const sql = postgres(api.stack.databaseUrl, { max: 1, connection, onnotice: () => {} });
  atEnd(() => sql.end());
  const { timestamp } = await api.chain.client.getBlock();
  await fillIndex(sql, (await servedSchema(sql)) ?? "", sizes, Number(timestamp));
});
afterEach(closePages);

/** The number of rows that are on the page. */
const rowsOf = ({ page }: OpenPage, caption: string) => page.locator(`${table(caption)} tbody tr`).count();

testWithBrowser("a wallet with 10,000 policies has them in pages, each with the API's policies", async () => {
  const opened = await openDashboard(api.stack.apiUrl, `/wallet/${wallet}`);
  const { page } = opened;
  await page.getByText("10,000 policies").first().waitFor();
  const policies = z.object({
    total: z.number(),
    policies: z.array(
      z.object({ coverageAmount: z.string(), payoutAmount: z.string(), premiumPaid: z.string() }),
    ),
  });
  const onPage = await rowsOf(opened, "Policies of the wallet");
  expect(onPage).toBeGreaterThan(0);
  expect(onPage).toBeLessThanOrEqual(100);
  const names: string[] = [];
  for (const offset of [0, onPage, 2 * onPage]) {
    const answer = await readApi(
      api,
      `/api/v1/policies/by-buyer/${wallet}?limit=${onPage}&offset=${offset}`,
      policies,
    );
    expect(answer.total).toBe(sizes.policies);
    expect(await amountsIn(opened, table("Policies of the wallet"))).toEqual(
      answer.policies.flatMap(({ coverageAmount, payoutAmount, premiumPaid }) => [
        coverageAmount,
        payoutAmount,
        premiumPaid,
      ]),
    );
    names.push(
      ...(await page.locator(`${table("Policies of the wallet")} tbody td:first-child`).allInnerTexts()),
    );
    await page
      .getByRole("navigation", { name: "Pages of policies" })
      .getByText(/^(Older|Next)/)
      .click();
    await settled(opened);
  }
  expect(new Set(names).size).toBe(3 * onPage);
  await expectAccessible(opened);
  expect(opened.faults()).toEqual([]);
});

const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** Walks a list to its second page and back, and reads the first amount of each row. */
async function walk(path: string, caption: string, what: string, columns: number) {
  const opened = await openDashboard(api.stack.apiUrl, path);
  const firsts = async () =>
    (await amountsIn(opened, table(caption))).filter((_, index) => index % columns === 0);
  const pages = opened.page.getByRole("navigation", { name: `Pages of ${what}` });
  const first = await firsts();
  await pages.getByRole("link", { name: `Next ${what}` }).click();
  await settled(opened);
  const second = await firsts();
  const copy = await openDashboard(api.stack.apiUrl, opened.page.url().slice(api.stack.apiUrl.length));
  expect((await amountsIn(copy, table(caption))).filter((_, index) => index % columns === 0)).toEqual(second);
  await pages.getByRole("link", { name: `First ${what}` }).click();
  await settled(opened);
  expect(await firsts()).toEqual(first);
  await expectAccessible(opened);
  expect([...opened.faults(), ...copy.faults()]).toEqual([]);
  return { first, second };
}

testWithBrowser(
  "listings and redemptions have their page in the address, and a way back to the first",
  async () => {
    const listings = z.object({
      total: z.number(),
      listings: z.array(
        z.object({ listingId: z.string() }).transform(({ listingId }) => ({ id: listingId })),
      ),
    });
    const listed = await walk("/market", "Bonds for sale", "listings", 3);
    const all = await readApi(api, "/api/v1/marketplace/listings?limit=50", listings);
    expect(all.total).toBeGreaterThan(50);
    expect([...listed.first, ...listed.second]).toEqual(ids(all.listings));

    const queue = z.object({
      entries: z.array(z.object({ queue_id: z.string() }).transform(({ queue_id }) => ({ id: queue_id }))),
    });
    const waiting = await walk("/bonds", "Redemptions that wait", "redemptions", 3);
    const { entries } = await readApi(api, "/api/v1/stats/queue?limit=50", queue);
    expect(entries.length).toBeGreaterThan(waiting.first.length);
    expect([...waiting.first, ...waiting.second]).toEqual(ids(entries));
  },
);

testWithBrowser("sales come twenty at a time, the newest first", async () => {
  const opened = await openDashboard(api.stack.apiUrl, "/market");
  const pages = opened.page.getByRole("navigation", { name: "Pages of sales" });
  expect(await rowsOf(opened, "The newest sales")).toBe(20);
  await pages.getByRole("link", { name: "Next sales" }).click();
  await settled(opened);
  expect(await rowsOf(opened, "The newest sales")).toBe(20);
  expect(await opened.page.locator("tbody tr").count()).toBeLessThan(200);
  expect(opened.faults()).toEqual([]);
});
